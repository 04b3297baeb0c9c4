"""The ladder: which accelerator runs a model when the user leaves the choice to us, and what comes after it.

    gpu ──> cpu (XNNPACK) ──> builtin ──> reference

A rung is taken if the model compiles and runs on it, in a worker of its own with seeded inputs, and if it
agrees with the CPU and is not slower. At a death the interpreter steps down to the next rung and goes on.

How each accelerator of CompiledModel is asked for on this machine, found by looking and not by loading.

GPU: the runtime's WebGPU accelerator, over Vulkan. Where the machine shows no GPU, a software Vulkan that a
browser ships is used if there is one; the worker's own report says what it ran on.
NPU: the runtime's plugin for Intel's OpenVINO, which wants one certain version of that library.
"""

import contextlib
import hashlib
import importlib.util
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from outlive.errors import OutliveError, RuntimeMissing
from outlive.interpreter.agreement import Values, furthest_apart
from outlive.interpreter.feeds import make_feeds
from outlive.interpreter.interpreter_options import ACCELERATORS, InterpreterOptions, OpResolverType
from outlive.interpreter.judge import Judge
from outlive.names import safe_lines

_RUNTIME = "ai_edge_litert"
_GPU_LIBRARY = "libLiteRtWebGpuAccelerator.so"
_NPU_PLUGIN = "vendors/intel_openvino/dispatch/libLiteRtDispatch_IntelOpenvino.so"
_WANTED = re.compile(rb"libopenvino\.so\.\d+")
# A driver for Vulkan that needs no GPU; Chromium and Chrome bring it for WebGL.
_SOFTWARE_DRIVERS = (
    "usr/lib/chromium/vk_swiftshader_icd.json",
    "usr/lib/chromium-browser/vk_swiftshader_icd.json",
    "usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "opt/google/chrome/vk_swiftshader_icd.json",
    "opt/microsoft/msedge/vk_swiftshader_icd.json",
)
# By any of these a user tells the loader which driver to take: Vulkan-Loader, LoaderDriverInterface.md.
_DRIVER_VARIABLES = ("VK_ICD_FILENAMES", "VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES")
_GPU_DEVICES = ("dev/dri/renderD*", "dev/nvidia0", "dev/dxg", "dev/kgsl-3d0", "dev/mali0")
GPU_INSTALL = "install the GPU's Vulkan driver and libvulkan1; without a GPU: apt install chromium libvulkan1"
NO_ADAPTER = "no GPU and no software Vulkan found"


class AcceleratorWarning(UserWarning):
    """An accelerator was left out, or left, and another one runs the model."""

    def __str__(self) -> str:
        """Which, and why; in a runtime's words there are names from a file, which are escaped."""
        return safe_lines(super().__str__())


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingAccelerator:
    """An accelerator that was asked for by name and is not here."""

    name: str
    missing: str
    install: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledWay:
    """How to ask for an accelerator; `missing` says what is not here, `install` what to do about it."""

    accelerators: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    missing: str = ""
    install: str = ""
    is_software: bool = False

    def to_order(self, options: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """The request to the worker; `options` are those of the user, by group."""
        groups = {**self.options}
        for group, fields in (options or {}).items():
            groups[group] = {**groups.get(group, {}), **fields}
        return {
            "accelerators": list(self.accelerators),
            "environment": dict(self.environment),
            "libraries": list(self.libraries),
            "options": {group: dict(fields) for group, fields in groups.items()},
        }


def cpu_way() -> CompiledWay:
    """The CPU through CompiledModel: XNNPACK with the flags that only it takes."""
    return CompiledWay(accelerators=("CPU",))


def gpu_way(root: Path = Path("/"), environment: Mapping[str, str] | None = None) -> CompiledWay:
    """The GPU, with the CPU for what it does not take."""
    known = os.environ if environment is None else environment
    folder = runtime_folder()
    if folder is None or not os.path.exists(folder / _GPU_LIBRARY):
        words = f"this build of the runtime has no GPU accelerator ({_GPU_LIBRARY})"
        return CompiledWay(
            accelerators=("GPU", "CPU"), missing=words, install="pip install -U ai-edge-litert"
        )
    chosen = {name: known[name] for name in _DRIVER_VARIABLES if name in known}
    driver = None if chosen or has_gpu(root) else software_driver(root)
    software = {} if driver is None else {"VK_ICD_FILENAMES": str(driver)}
    return CompiledWay(
        accelerators=("GPU", "CPU"), environment={**chosen, **software}, is_software=bool(software)
    )


def npu_way(backend: str = "") -> CompiledWay:
    """Intel's NPU through OpenVINO, with the CPU for what it does not take; `backend` may be CPU."""
    plain = CompiledWay(accelerators=("NPU", "CPU"))
    folder = runtime_folder()
    plugin = None if folder is None else folder / _NPU_PLUGIN
    if plugin is None or not os.path.exists(plugin):
        return replace(plain, missing="this build of the runtime has no plugin for OpenVINO")
    wanted = _WANTED.search(plugin.read_bytes())
    name = wanted.group().decode() if wanted else "libopenvino.so"
    install = (
        "pip install openvino==2026.3.1" if name.endswith(".2631") else f"install the OpenVINO of {name}"
    )
    found = importlib.util.find_spec("openvino")
    if found is None or not found.submodule_search_locations:
        return replace(plain, missing="OpenVINO is not installed", install=install)
    library = Path(next(iter(found.submodule_search_locations))) / "libs" / name
    if not os.path.exists(library):
        words = f"the runtime's plugin wants {name}, and the installed OpenVINO is another version"
        return replace(plain, missing=words, install=install)
    options = {"intel_openvino_options": {"graph_backend": backend}} if backend else {}
    return replace(plain, libraries=(str(library),), options=options)


def has_gpu(root: Path = Path("/")) -> bool:
    """True if the system shows a device that a GPU driver would use."""
    return any(next(iter(root.glob(pattern)), None) is not None for pattern in _GPU_DEVICES)


def software_driver(root: Path = Path("/")) -> Path | None:
    """A Vulkan driver that runs on the CPU; None if no browser has brought one."""
    return next((root / path for path in _SOFTWARE_DRIVERS if os.path.exists(root / path)), None)


def runtime_folder() -> Path | None:
    """Where the runtime's libraries are, found without loading it; None if it is not installed."""
    found = importlib.util.find_spec(_RUNTIME)
    places = found.submodule_search_locations if found is not None else None
    return Path(next(iter(places))) if places else None


LADDER = ("gpu", "cpu", "builtin", "reference")
COMPILED: dict[str, Callable[[], CompiledWay]] = {"gpu": gpu_way, "npu": npu_way}
NAMES = (*COMPILED, *ACCELERATORS)
_SOFTWARE = re.compile(r"Selected adapter: .*adapterType=[^\n]*(?:CPU|Software)")
_NO_GPU = "no GPU on this machine; a software GPU is used only if you name it"
# A trial that takes longer has lost against anything.
_TRIAL_SECONDS = 60.0
_TIMED_RUNS, _TIMED_S = 7, 0.2
# Clocks are not exact, nor is a busy machine.
_NOT_SLOWER = 1.1
_COMPLAINTS = (ValueError, TypeError, LookupError, AttributeError, RuntimeError, MemoryError, OSError)


# Opens an interpreter, as `WorkerInterpreter._of` does.
Open = Callable[[InterpreterOptions], Any]


@dataclass(slots=True)
class Ladder:
    """Where an interpreter stands, what is below, and what was left out and why."""

    current: str
    below: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def step(self, why: str) -> str | None:
        """The next rung down; None if there is none."""
        if not self.below:
            return None
        self.skipped.append((self.current, why))
        warnings.warn(f"{self.current} is left: {why}", AcceleratorWarning, stacklevel=4)
        self.current = self.below.pop(0)
        return self.current


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    why_not: str = ""
    is_software: bool = False
    seconds: float = 0.0
    rows: tuple[Any, ...] = ()
    values: Values = field(default_factory=dict)


_chosen: dict[tuple[str, ...], tuple[str, tuple[tuple[str, str], ...]]] = {}


def opened_on(options: InterpreterOptions, name: str) -> InterpreterOptions:
    """The options for a rung; `RuntimeMissing` with a finding if what it needs is not here."""
    if name in COMPILED:
        if options.delegates or options.custom_ops:
            raise ValueError(f"delegates and custom operators are an interpreter's; {name} has none")
        if options.kind.runtime != "litert":
            raise ValueError(f"{name} needs the runtime litert, not {options.kind.runtime}")
        way = COMPILED[name]()
        if way.missing:
            raise absent(options.judge, name, way.missing, way.install or GPU_INSTALL)
        threads = options.arguments.get("num_threads")
        own = {"cpu_options": {"num_threads": threads}} if threads else {}
        return replace(options, compiled=way.to_order(own))
    arguments = {k: v for k, v in options.arguments.items() if k != "experimental_op_resolver_type"}
    kind = ACCELERATORS[name].name
    if kind != "AUTO":
        arguments["experimental_op_resolver_type"] = kind
    return replace(options, compiled=None, arguments=arguments)


def absent(judge: Judge, name: str, missing: str, install: str) -> RuntimeMissing:
    """The error for an accelerator that was asked for by name and is not here."""
    return judge.missing("accelerator", MissingAccelerator(name=name, missing=missing, install=install))


@contextlib.contextmanager
def missing_gpu_explained(ladder: Ladder | None, judge: Judge) -> Iterator[None]:
    """Say of a GPU that finds no adapter that it is not here: the runtime itself only names a line."""
    try:
        yield
    except OutliveError as error:
        stderr = getattr(getattr(error, "flight", None), "stderr_tail", "")
        if ladder is not None and ladder.current == "gpu" and "No adapters found" in stderr:
            raise absent(judge, "gpu", NO_ADAPTER, GPU_INSTALL) from error
        raise


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names of rungs, if all of them are; ValueError otherwise."""
    for name in names:
        if name not in NAMES:
            raise ValueError(f"unknown accelerator {name!r}; choose auto or one of {', '.join(NAMES)}")
    return tuple(names)


def run_arguments(accelerator: str) -> dict[str, Any]:
    """What an interpreter is given for an accelerator by name, or for "auto"."""
    if accelerator in ACCELERATORS:
        return {"experimental_op_resolver_type": ACCELERATORS[accelerator]}
    if accelerator != "auto":
        check_names([accelerator])
    # What a compiled model leaves to the CPU is not told by the nodes of an interpreter.
    plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return {"experimental_op_resolver_type": plain, "accelerator": accelerator}


def choose_accelerator(
    options: InterpreterOptions, accelerator: str | None, ladder: Sequence[str], open_one: Open
) -> tuple[InterpreterOptions, Ladder | None]:
    """The options for what was asked for, and where on the ladder that is; None without an accelerator."""
    if accelerator is None:
        return options, None
    chosen = Ladder(current=accelerator)
    if accelerator == "auto":
        chosen = _climb(options, ladder, open_one)
    check_names([chosen.current])
    return opened_on(options, chosen.current), chosen


def _climb(options: InterpreterOptions, names: Sequence[str], open_one: Open) -> Ladder:
    """Choose a rung for this model; what was found out is kept for as long as the program runs."""
    ladder = check_names(names)
    if not ladder:
        raise ValueError("give at least one accelerator")
    key = (_identity(options), str(sorted(options.arguments.items())), *ladder)
    if key not in _chosen:
        _chosen[key] = _try_rungs(options, ladder, open_one)
        for name, why in _chosen[key][1]:
            warnings.warn(f"{name} is not used: {why}", AcceleratorWarning, stacklevel=4)
    current, skipped = _chosen[key]
    return Ladder(current=current, below=list(ladder[ladder.index(current) + 1 :]), skipped=list(skipped))


def _try_rungs(
    options: InterpreterOptions, ladder: tuple[str, ...], open_one: Open
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The first rung that is fit; the first of the CPU if none is, so that the runtime says why itself."""
    trials: dict[str, _Trial] = {}

    def tried(name: str) -> _Trial:
        if name not in trials:
            trials[name] = _trial(options, name, open_one)
        return trials[name]

    skipped: list[tuple[str, str]] = []
    for name in ladder:
        why = _unfit(name, ladder, tried)
        if not why:
            return name, tuple(skipped)
        skipped.append((name, why))
    rest = [name for name in ladder if name not in COMPILED] or list(ladder)
    return rest[0], tuple(pair for pair in skipped if pair[0] != rest[0])


def _unfit(name: str, ladder: Sequence[str], tried: Callable[[str], _Trial]) -> str:
    """Why this rung is not taken; empty if it is."""
    if name == "gpu" and gpu_way().is_software:
        return _NO_GPU
    seen = tried(name)
    if seen.why_not or name not in COMPILED:
        return seen.why_not
    if seen.is_software:
        return _NO_GPU
    kernels = (*(other for other in ladder if other not in COMPILED), "cpu", "builtin")
    plain = next((tried(other) for other in kernels if not tried(other).why_not), None)
    if plain is None:
        return "no CPU kernel runs it, so the results cannot be compared"
    apart = furthest_apart(plain.rows, plain.values, seen.values, arithmetic="float16")
    if apart.largest > apart.allowed:
        return (
            f"its results differ from the CPU's by {apart.largest:.3g}, {apart.allowed:.3g} would be normal"
        )
    if seen.seconds > _NOT_SLOWER * plain.seconds:
        return f"{seen.seconds * 1000:.2f} ms a run, the CPU {plain.seconds * 1000:.2f} ms"
    return ""


def _trial(options: InterpreterOptions, name: str, open_one: Open) -> _Trial:
    """Load, allocate and run the model on a rung, in a worker that is thrown away."""
    seconds = min(options.limits.seconds or _TRIAL_SECONDS, _TRIAL_SECONDS)
    limits = type(options.limits)(memory=options.limits.memory_bytes, seconds=seconds)
    try:
        interpreter = open_one(replace(opened_on(options, name), limits=limits, watch=None))
        with contextlib.closing(interpreter):
            return _run(interpreter, name in COMPILED)
    except OutliveError as error:
        return _Trial(why_not=_words(error))
    except _COMPLAINTS as error:
        return _Trial(why_not=" ".join(str(error).split())[:200] or type(error).__name__)


def _run(interpreter: Any, compiled: bool) -> _Trial:
    interpreter.allocate_tensors()
    for index, value in make_feeds(interpreter.get_input_details(), None).items():
        interpreter.set_tensor(index, value)
    interpreter.invoke()
    rows = interpreter.get_output_details()
    values = {int(row["index"]): interpreter.get_tensor(row["index"]) for row in rows}
    times: list[float] = []
    while len(times) < _TIMED_RUNS and (not times or sum(times) < _TIMED_S):
        start = time.perf_counter()
        interpreter.invoke()
        times.append(time.perf_counter() - start)
    said = interpreter.report()[1] if compiled else ""
    software = _SOFTWARE.search(said) is not None
    return _Trial(is_software=software, seconds=median(times), rows=tuple(rows), values=values)


def _words(error: OutliveError) -> str:
    flight = getattr(error, "flight", None)
    died = flight is not None and flight.died
    how = f" ({flight.signal or flight.ended_by} at {flight.stage})" if died and flight is not None else ""
    return f"{error.finding.headline}{how}"


def why_left(error: BaseException) -> str:
    """Why a rung is left after this error; empty if it is no reason to leave it."""
    if not isinstance(error, OutliveError) or isinstance(error, ValueError):
        return ""
    return _words(error)


def _identity(options: InterpreterOptions) -> str:
    """What tells this model from another: its bytes, or its path with size and time."""
    if options.content is not None:
        return hashlib.sha256(options.content).hexdigest()
    path = str(options.arguments.get("model_path", ""))
    try:
        status = os.stat(path)
    except OSError:
        return path
    return f"{os.path.abspath(path)}|{status.st_size}|{status.st_mtime_ns}"
