"""The packages that can run a model, each behind the same few names."""

from __future__ import annotations

import os
from typing import Any

# Threads started by an import would be lost in a fork, with whatever they held: OpenBLAS starts one for
# each core unless told not to before numpy is imported; so does the allocator of pyarrow, which TensorFlow
# imports by way of pandas where both are installed (apache/arrow, cpp/src/arrow/memory_pool_jemalloc.cc).
_SINGLE_THREADED = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1"),
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}

NAMES = ("litert", "tensorflow", "tflite_runtime")
# The name of no runtime: workers of such a nursery become other programs.
NO_RUNTIME = "python"


def preload(name: str) -> dict[str, Any]:
    """Import numpy and the runtime; which versions they are."""
    before = {key: os.environ.get(key) for key in _SINGLE_THREADED}
    os.environ.update(_SINGLE_THREADED)
    try:
        import numpy

        module = interpreter_module(name)
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value
    return {"runtime": name, "version": _version(name), "numpy": numpy.__version__, "file": module.__file__}


def interpreter_module(name: str) -> Any:
    """The module that has `Interpreter`, `load_delegate` and `OpResolverType`."""
    if name == "litert":
        from ai_edge_litert import interpreter

        return interpreter
    if name == "tflite_runtime":
        from tflite_runtime import interpreter  # type: ignore[import-not-found,import-untyped,no-redef,unused-ignore]

        return interpreter
    if name == "tensorflow":
        from tensorflow.lite.python import interpreter  # type: ignore[import-not-found,import-untyped,no-redef,unused-ignore]

        return interpreter
    raise ImportError("unknown runtime named %r" % name)


def _version(name: str) -> str:
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7
        return ""
    packages = {
        "litert": ("ai-edge-litert",),
        "tflite_runtime": ("tflite-runtime",),
        "tensorflow": ("tensorflow", "tensorflow-cpu", "tf-nightly"),
    }[name]
    for package in packages:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return ""
