"""The accelerators that can be tried on this machine, and the configuration of each.

    reference  builtin  xnnpack  gpu  npu                                                 by default
    flex, ethos-u                                  for models with Flex operators, where Vela is installed
    xnnpack-threads  xnnpack-latest  xnnpack-fp16  xnnpack-weight-cache  gpu-float32      when named
    a delegate library of the user's                                                      when given

Nothing is loaded to find them: of a delegate library only the header is read.
"""

from __future__ import annotations

import ctypes.util
import difflib
import importlib.util
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from outlive.accelerators import vela
from outlive.interpreter.interpreter_options import Delegate, OpResolverType
from outlive.interpreter.ladder import GPU_INSTALL, CompiledWay, cpu_way, gpu_way, npu_way

# The function that LiteRT looks for: tflite/delegates/external/external_delegate.cc.
ENTRY = b"tflite_plugin_create_delegate"
# e_machine in the header of an ELF file: System V ABI, chapter 4, and the supplements of the processors.
_MACHINES = {
    3: ("i386", "i686", "x86"),
    8: ("mips",),
    21: ("ppc64", "ppc64le"),
    22: ("s390x",),
    40: ("armv6l", "armv7l", "armv8l", "arm"),
    62: ("x86_64", "amd64"),
    183: ("aarch64", "arm64"),
    243: ("riscv64",),
}
_HEADER_BYTES = 20
_MOST_BYTES = 1 << 30


def library_problem(library: str, machine: str = "") -> tuple[str, str]:
    """What is wrong with a library, and what to do about it; both empty if nothing is."""
    path = Path(library)
    if os.sep not in library and not path.exists():
        return _unfound(library)
    if not path.exists():
        return f"file not found: {library}", "give the path of the library"
    if path.is_dir():
        return f"{library} is a folder", "give the path of the library in it"
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= _MOST_BYTES else b""
    except OSError as error:
        return f"{library} cannot be read: {error.strerror}", "make the file readable"
    return _content_problem(library, data, machine or platform.machine())


def _unfound(library: str) -> tuple[str, str]:
    """A bare name is the system loader's to find."""
    stem = library.removeprefix("lib").partition(".so")[0]
    if ctypes.util.find_library(stem) is not None:
        return "", ""
    return f"the system finds no library named {library}", "give the path of the library, not only its name"


def _content_problem(library: str, data: bytes, machine: str) -> tuple[str, str]:
    if platform.system() != "Linux" or not data:
        return "", ""
    if not data.startswith(b"\x7fELF") or len(data) < _HEADER_BYTES:
        return f"{library} is not a shared library for this system", "use the build for Linux (.so)"
    order = "little" if data[5] == 1 else "big"
    number = int.from_bytes(data[18:20], "little" if order == "little" else "big")
    made_for = _MACHINES.get(number, (f"machine {number}",))
    if machine.lower() not in made_for:
        words = f"{library} is built for {made_for[0]}, this machine is {machine}"
        return words, f"use the build for {machine}"
    if ENTRY not in data:
        words = f"{library} has no function {ENTRY.decode()}, by which LiteRT makes a delegate"
        return words, "take a build with the external delegate interface of TensorFlow Lite"
    return "", ""


# TFLITE_XNNPACK_DELEGATE_FLAG_FORCE_FP16: tflite/delegates/xnnpack/xnnpack_delegate.h
_FORCE_FP16 = 4
# CPU kernels that all other accelerators are compared with.
WITNESSES = ("reference", "builtin", "xnnpack")
USUAL = (*WITNESSES, "gpu", "npu")
_ALIASES = {"cpu": "xnnpack", "openvino": "npu", "tensorflow": "flex", "vela": "ethos-u"}
ETHOS_U = "ethos-u"
LIBRARY = "library"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorConfig:
    """How an accelerator is requested: arguments of the interpreter, or an order for a compiled model.

    `arithmetic` is the precision it may compute in; `missing` says why it cannot be tried here.
    """

    name: str = ""
    title: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    compiled: CompiledWay | None = None
    arithmetic: str = "float32"
    missing: str = ""
    install: str = ""
    is_library: bool = False

    def to_arguments(self) -> dict[str, Any]:
        """The arguments for an interpreter in a worker."""
        if self.compiled is None:
            return dict(self.arguments)
        return {**self.arguments, "_compiled": self.compiled.to_order()}

    def with_threads(self, threads: int | None) -> AcceleratorConfig:
        """The same with this number of threads, unless it has its own."""
        if threads is None or "num_threads" in self.arguments:
            return self
        if self.compiled is None:
            return replace(self, arguments={**self.arguments, "num_threads": threads})
        cpu = {**self.compiled.options.get("cpu_options", {}), "num_threads": threads}
        options = {**self.compiled.options, "cpu_options": cpu}
        return replace(self, compiled=replace(self.compiled, options=options))


def choose_configurations(
    only: Sequence[str] = (),
    delegates: Sequence[Delegate] = (),
    threads: int | None = None,
    has_flex: bool = False,
) -> tuple[AcceleratorConfig, ...]:
    """The accelerators to try, each with the user's number of threads; ValueError for an unknown name.

    The kernels of the CPU are always among them: all others are compared with them.
    """
    # Some are tried unnamed only where that makes sense.
    sensible = [*(["flex"] if has_flex else []), *([ETHOS_U] if vela.is_installed() else [])]
    names = [_ALIASES.get(name, name) for name in only] or [*USUAL, *sensible]
    for name in names:
        if name not in _MAKERS and name != LIBRARY:
            near = difflib.get_close_matches(name, [*_MAKERS, *_ALIASES], 1)
            hint = f"; did you mean {near[0]}?" if near else f"; choose from {', '.join(_MAKERS)}"
            raise ValueError(f"unknown accelerator {name!r}{hint}")
    ordered = dict.fromkeys([*WITNESSES, *(name for name in names if name != LIBRARY)])
    found = [replace(_MAKERS[name](), name=name) for name in ordered]
    found += [_library(delegate) for delegate in delegates]
    return tuple(one.with_threads(threads) for one in found)


def _interpreter(
    title: str, kind: OpResolverType = OpResolverType.AUTO, missing: str = "", install: str = "", **more: Any
) -> AcceleratorConfig:
    arguments = {"experimental_op_resolver_type": kind, **more}
    return AcceleratorConfig(title=title, arguments=arguments, missing=missing, install=install)


def _compiled_cpu(title: str, arithmetic: str = "float32", **cpu_options: Any) -> AcceleratorConfig:
    way = replace(cpu_way(), options={"cpu_options": cpu_options})
    return AcceleratorConfig(title=title, compiled=way, arithmetic=arithmetic)


def _compiled(title: str, way: CompiledWay, install: str = "") -> AcceleratorConfig:
    found = AcceleratorConfig(title=title, compiled=way, arithmetic="float16", missing=way.missing)
    return replace(found, install=way.install or install)


def _gpu_float32() -> AcceleratorConfig:
    way = replace(gpu_way(), options={"gpu_options": {"enforce_f32": True}})
    return replace(_compiled("GPU in single precision", way, GPU_INSTALL), arithmetic="float32")


def _npu() -> AcceleratorConfig:
    backend = "" if os.path.exists("/dev/accel/accel0") else "CPU"
    title = "NPU through OpenVINO" + (", on its CPU backend" if backend else "")
    return _compiled(title, npu_way(backend))


def _library(delegate: Delegate) -> AcceleratorConfig:
    problem, remedy = library_problem(delegate.library)
    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    title = f"delegate library {delegate.library}"
    found = _interpreter(title, kind, problem, remedy, experimental_delegates=[delegate])
    return replace(found, name=os.path.basename(delegate.library), arithmetic="float16", is_library=True)


_MAKERS: dict[str, Callable[[], AcceleratorConfig]] = {
    "reference": lambda: _interpreter("LiteRT's plain kernels", OpResolverType.BUILTIN_REF),
    "builtin": lambda: _interpreter("LiteRT's own kernels", OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES),
    "xnnpack": lambda: _interpreter("XNNPACK, the default"),
    "xnnpack-threads": lambda: _interpreter(
        f"XNNPACK with {os.cpu_count() or 1} threads", num_threads=os.cpu_count() or 1
    ),
    "xnnpack-latest": lambda: _interpreter(
        "XNNPACK with its latest features", experimental_default_delegate_latest_features=True
    ),
    "xnnpack-fp16": lambda: _compiled_cpu("XNNPACK in half precision", "float16", xnnpack_flags=_FORCE_FP16),
    # The cache lives as long as the worker: no other process shares it.
    "xnnpack-weight-cache": lambda: _compiled_cpu(
        "XNNPACK with a weight cache", xnnpack_weight_cache_path=":memory"
    ),
    "gpu": lambda: _compiled("GPU (WebGPU over Vulkan), the CPU for the rest", gpu_way(), GPU_INSTALL),
    "gpu-float32": _gpu_float32,
    "npu": _npu,
    "flex": lambda: _interpreter(
        "TensorFlow's interpreter with Flex operators",
        missing="" if importlib.util.find_spec("tensorflow") else "TensorFlow is not installed",
        install="pip install tensorflow-cpu",
        runtime="tensorflow",
    ),
    ETHOS_U: lambda: AcceleratorConfig(
        title=f"Arm Ethos-U, compiled by Vela for {vela.CONFIGURATION}",
        missing="" if vela.is_installed() else "Vela, its compiler, is not installed",
        install=vela.INSTALL,
    ),
}
