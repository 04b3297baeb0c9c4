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
from outlive.interpreter.compiled_accelerators import GPU_INSTALL, CompiledWay, cpu_way, gpu_way, npu_way
from outlive.interpreter.interpreter_options import Delegate, OpResolverType

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
        return f"there is no file {library}", "give the path of the library"
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
        return f"{library} is no shared library of this system", "take the build for Linux (.so)"
    order = "little" if data[5] == 1 else "big"
    number = int.from_bytes(data[18:20], "little" if order == "little" else "big")
    made_for = _MACHINES.get(number, (f"machine {number}",))
    if machine.lower() not in made_for:
        words = f"{library} is made for {made_for[0]}, and this machine is {machine}"
        return words, f"take the build for {machine}"
    if ENTRY not in data:
        words = f"{library} has no function {ENTRY.decode()}, by which LiteRT makes a delegate"
        return words, "take a build with the external delegate interface of TensorFlow Lite"
    return "", ""


# TFLITE_XNNPACK_DELEGATE_FLAG_FORCE_FP16: tflite/delegates/xnnpack/xnnpack_delegate.h
_FORCE_FP16 = 4
USUAL = ("reference", "builtin", "xnnpack", "gpu", "npu")
WITNESSES = ("reference", "builtin", "xnnpack")
_ALIASES = {"cpu": "xnnpack", "openvino": "npu", "tensorflow": "flex", "vela": "ethos-u"}
ETHOS_U = "ethos-u"
LIBRARY = "library"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorConfig:
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


def choose_configurations(
    only: Sequence[str] = (),
    delegates: Sequence[Delegate] = (),
    threads: int | None = None,
    has_flex: bool = False,
) -> tuple[AcceleratorConfig, ...]:
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


def _with_threads(way: AcceleratorConfig, threads: int | None) -> AcceleratorConfig:
    if threads is None or "num_threads" in way.arguments:
        return way
    if way.compiled is not None:
        options = {**way.compiled.options}
        options["cpu_options"] = {**options.get("cpu_options", {}), "num_threads": threads}
        return replace(way, compiled=replace(way.compiled, options=options))
    return replace(way, arguments={**way.arguments, "num_threads": threads})


def _resolver(kind: OpResolverType, **more: Any) -> dict[str, Any]:
    return {"experimental_op_resolver_type": kind, **more}


def _reference() -> AcceleratorConfig:
    return AcceleratorConfig(
        name="reference",
        title="LiteRT's plain kernels",
        arguments=_resolver(OpResolverType.BUILTIN_REF),
    )


def _builtin() -> AcceleratorConfig:
    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return AcceleratorConfig(name="builtin", title="LiteRT's own kernels", arguments=_resolver(kind))


def _xnnpack() -> AcceleratorConfig:
    return AcceleratorConfig(
        name="xnnpack", title="XNNPACK, the default", arguments=_resolver(OpResolverType.AUTO)
    )


def _xnnpack_threads() -> AcceleratorConfig:
    threads = os.cpu_count() or 1
    title = f"XNNPACK with {threads} threads"
    return AcceleratorConfig(
        name="xnnpack-threads", title=title, arguments=_resolver(OpResolverType.AUTO, num_threads=threads)
    )


def _xnnpack_latest() -> AcceleratorConfig:
    flag = {"experimental_default_delegate_latest_features": True}
    return AcceleratorConfig(
        name="xnnpack-latest",
        title="XNNPACK with its latest features",
        arguments=_resolver(OpResolverType.AUTO, **flag),
    )


def _xnnpack_fp16() -> AcceleratorConfig:
    options = {"cpu_options": {"xnnpack_flags": _FORCE_FP16}}
    return AcceleratorConfig(
        name="xnnpack-fp16",
        title="XNNPACK in half precision",
        compiled=replace(cpu_way(), options=options),
        arithmetic="float16",
    )


def _xnnpack_weight_cache() -> AcceleratorConfig:
    # The file lives as long as the worker: what is measured is a cache that is shared by nobody yet.
    options = {"cpu_options": {"xnnpack_weight_cache_path": ":memory"}}
    return AcceleratorConfig(
        name="xnnpack-weight-cache",
        title="XNNPACK with a weight cache",
        compiled=replace(cpu_way(), options=options),
    )


def _gpu() -> AcceleratorConfig:
    way = gpu_way()
    return AcceleratorConfig(
        name="gpu",
        title="GPU (WebGPU over Vulkan), the CPU for the rest",
        compiled=way,
        arithmetic="float16",
        missing=way.missing,
        install=way.install or GPU_INSTALL,
    )


def _gpu_float32() -> AcceleratorConfig:
    way = gpu_way()
    options = {"gpu_options": {"enforce_f32": True}}
    return replace(
        _gpu(),
        name="gpu-float32",
        title="GPU in single precision",
        compiled=replace(way, options=options),
        arithmetic="float32",
    )


def _npu() -> AcceleratorConfig:
    backend = "" if os.path.exists("/dev/accel/accel0") else "CPU"
    way = npu_way(backend)
    title = "NPU through OpenVINO" + (", on its CPU backend" if backend else "")
    return AcceleratorConfig(
        name="npu",
        title=title,
        compiled=way,
        arithmetic="float16",
        missing=way.missing,
        install=way.install,
    )


def _flex() -> AcceleratorConfig:
    absent = importlib.util.find_spec("tensorflow") is None
    return AcceleratorConfig(
        name="flex",
        title="TensorFlow's interpreter with Flex operators",
        arguments=_resolver(OpResolverType.AUTO, runtime="tensorflow"),
        missing="TensorFlow is not installed" if absent else "",
        install="pip install tensorflow-cpu",
    )


def _ethos_u() -> AcceleratorConfig:
    return AcceleratorConfig(
        name=ETHOS_U,
        title=f"Arm Ethos-U, compiled by Vela for {vela.CONFIGURATION}",
        missing="" if vela.is_installed() else "Vela, its compiler, is not installed",
        install=vela.INSTALL,
    )


def _library(delegate: Delegate) -> AcceleratorConfig:
    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    problem, remedy = library_problem(delegate.library)
    return AcceleratorConfig(
        name=os.path.basename(delegate.library),
        title=f"delegate library {delegate.library}",
        arguments=_resolver(kind, experimental_delegates=[delegate]),
        arithmetic="float16",
        missing=problem,
        install=remedy,
        is_library=True,
    )


_MAKERS: dict[str, Callable[[], AcceleratorConfig]] = {
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
