"""The accelerators that can be tried on this machine, and how each is asked for.

    reference  builtin  xnnpack  gpu  npu                                                 usually
    flex, ethos-u                                  for models with Flex operators, where Vela is installed
    xnnpack-threads  xnnpack-latest  xnnpack-fp16  xnnpack-weight-cache  gpu-float32      when named
    a library of the user's                                                               when given

Looking for them loads none of them.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from outlive.accelerators import vela
from outlive.accelerators.libraries import library_problem
from outlive.interpreter.compiled_accelerators import GPU_INSTALL, CompiledWay, cpu_way, gpu_way, npu_way
from outlive.interpreter.options import Delegate, OpResolverType

# TFLITE_XNNPACK_DELEGATE_FLAG_FORCE_FP16: tflite/delegates/xnnpack/xnnpack_delegate.h
_FORCE_FP16 = 4
USUAL = ("reference", "builtin", "xnnpack", "gpu", "npu")
WITNESSES = ("reference", "builtin", "xnnpack")
_ALIASES = {"cpu": "xnnpack", "openvino": "npu", "tensorflow": "flex", "vela": "ethos-u"}
ETHOS_U = "ethos-u"
LIBRARY = "library"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How an accelerator is asked for: arguments of the interpreter, or an order for a compiled model.

    `arithmetic` is the precision it may compute in; `missing` says why it cannot be tried here.
    """

    name: str
    title: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    compiled: CompiledWay | None = None
    arithmetic: str = "float32"
    missing: str = ""
    install: str = ""
    is_library: bool = False

    def to_arguments(self) -> dict[str, Any]:
        """What an interpreter in a worker is given."""
        if self.compiled is None:
            return dict(self.arguments)
        return {**self.arguments, "_compiled": self.compiled.to_order()}


def choose_ways(
    only: Sequence[str] = (),
    delegates: Sequence[Delegate] = (),
    threads: int | None = None,
    has_flex: bool = False,
) -> tuple[Way, ...]:
    """The ways to try, each with the user's number of threads; ValueError for a name there is not.

    The kernels of the CPU are always among them: all others are compared with them.
    """
    names = [_ALIASES.get(name, name) for name in only] or [*USUAL, *_fitting(has_flex)]
    for name in names:
        if name not in _MAKERS and name != LIBRARY:
            near = difflib.get_close_matches(name, [*_MAKERS, *_ALIASES], 1)
            hint = f"; did you mean {near[0]}?" if near else f"; choose from {', '.join(_MAKERS)}"
            raise ValueError(f"there is no accelerator {name!r}{hint}")
    ordered = dict.fromkeys([*WITNESSES, *(name for name in names if name != LIBRARY)])
    ways = [_MAKERS[name]() for name in ordered]
    ways += [_library(delegate) for delegate in delegates]
    return tuple(_with_threads(way, threads) for way in ways)


def _fitting(has_flex: bool) -> list[str]:
    """What is tried without being named only where it makes sense."""
    return [*(["flex"] if has_flex else []), *([ETHOS_U] if vela.is_installed() else [])]


def _with_threads(way: Way, threads: int | None) -> Way:
    if threads is None or "num_threads" in way.arguments:
        return way
    if way.compiled is not None:
        options = {**way.compiled.options}
        options["cpu_options"] = {**options.get("cpu_options", {}), "num_threads": threads}
        return replace(way, compiled=replace(way.compiled, options=options))
    return replace(way, arguments={**way.arguments, "num_threads": threads})


def _resolver(kind: OpResolverType, **more: Any) -> dict[str, Any]:
    return {"experimental_op_resolver_type": kind, **more}


def _reference() -> Way:
    return Way(
        name="reference",
        title="LiteRT's plain kernels",
        arguments=_resolver(OpResolverType.BUILTIN_REF),
    )


def _builtin() -> Way:
    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return Way(name="builtin", title="LiteRT's own kernels", arguments=_resolver(kind))


def _xnnpack() -> Way:
    return Way(name="xnnpack", title="XNNPACK, the default", arguments=_resolver(OpResolverType.AUTO))


def _xnnpack_threads() -> Way:
    threads = os.cpu_count() or 1
    title = f"XNNPACK with {threads} threads"
    return Way(
        name="xnnpack-threads", title=title, arguments=_resolver(OpResolverType.AUTO, num_threads=threads)
    )


def _xnnpack_latest() -> Way:
    flag = {"experimental_default_delegate_latest_features": True}
    return Way(
        name="xnnpack-latest",
        title="XNNPACK with its latest features",
        arguments=_resolver(OpResolverType.AUTO, **flag),
    )


def _xnnpack_fp16() -> Way:
    options = {"cpu_options": {"xnnpack_flags": _FORCE_FP16}}
    return Way(
        name="xnnpack-fp16",
        title="XNNPACK in half precision",
        compiled=replace(cpu_way(), options=options),
        arithmetic="float16",
    )


def _xnnpack_weight_cache() -> Way:
    # The file lives as long as the worker: what is measured is a cache that is shared by nobody yet.
    options = {"cpu_options": {"xnnpack_weight_cache_path": ":memory"}}
    return Way(
        name="xnnpack-weight-cache",
        title="XNNPACK with a weight cache",
        compiled=replace(cpu_way(), options=options),
    )


def _gpu() -> Way:
    way = gpu_way()
    return Way(
        name="gpu",
        title="GPU (WebGPU over Vulkan), the CPU for the rest",
        compiled=way,
        arithmetic="float16",
        missing=way.missing,
        install=way.install or GPU_INSTALL,
    )


def _gpu_float32() -> Way:
    way = gpu_way()
    options = {"gpu_options": {"enforce_f32": True}}
    return replace(
        _gpu(),
        name="gpu-float32",
        title="GPU in single precision",
        compiled=replace(way, options=options),
        arithmetic="float32",
    )


def _npu() -> Way:
    backend = "" if os.path.exists("/dev/accel/accel0") else "CPU"
    way = npu_way(backend)
    title = "NPU through OpenVINO" + (", on its CPU backend" if backend else "")
    return Way(
        name="npu",
        title=title,
        compiled=way,
        arithmetic="float16",
        missing=way.missing,
        install=way.install,
    )


def _flex() -> Way:
    absent = importlib.util.find_spec("tensorflow") is None
    return Way(
        name="flex",
        title="TensorFlow's interpreter with Flex operators",
        arguments=_resolver(OpResolverType.AUTO, runtime="tensorflow"),
        missing="TensorFlow is not installed" if absent else "",
        install="pip install tensorflow-cpu",
    )


def _ethos_u() -> Way:
    return Way(
        name=ETHOS_U,
        title=f"Arm Ethos-U, compiled by Vela for {vela.CONFIGURATION}",
        missing="" if vela.is_installed() else "Vela, its compiler, is not installed",
        install=vela.INSTALL,
    )


def _library(delegate: Delegate) -> Way:
    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    problem, remedy = library_problem(delegate.library)
    return Way(
        name=os.path.basename(delegate.library),
        title=f"delegate library {delegate.library}",
        arguments=_resolver(kind, experimental_delegates=[delegate]),
        arithmetic="float16",
        missing=problem,
        install=remedy,
        is_library=True,
    )


_MAKERS: dict[str, Callable[[], Way]] = {
    "reference": _reference,
    "builtin": _builtin,
    "xnnpack": _xnnpack,
    "xnnpack-threads": _xnnpack_threads,
    "xnnpack-latest": _xnnpack_latest,
    "xnnpack-fp16": _xnnpack_fp16,
    "xnnpack-weight-cache": _xnnpack_weight_cache,
    "gpu": _gpu,
    "gpu-float32": _gpu_float32,
    "npu": _npu,
    "flex": _flex,
    ETHOS_U: _ethos_u,
}
