"""The ladder: which accelerator runs a model when the user leaves the choice to us, and what comes after it.

    gpu ──> cpu (XNNPACK) ──> builtin ──> reference

A rung is taken if the model compiles and runs on it, in a worker of its own with seeded inputs, and if it
agrees with the CPU and is not slower. At a death the interpreter steps down to the next rung and goes on.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from outlive.errors import OutliveError, RuntimeMissing
from outlive.interpreter.agreement import Values, furthest_apart
from outlive.interpreter.compiled_accelerators import (
    GPU_INSTALL,
    NO_ADAPTER,
    AcceleratorWarning,
    CompiledWay,
    MissingAccelerator,
    gpu_way,
    npu_way,
)
from outlive.interpreter.feeds import make_feeds
from outlive.interpreter.interpreter_options import ACCELERATORS, InterpreterOptions, OpResolverType
from outlive.interpreter.judge import Judge

LADDER = ("gpu", "cpu", "builtin", "reference")
COMPILED: dict[str, Callable[[], CompiledWay]] = {"gpu": gpu_way, "npu": npu_way}
NAMES = (*COMPILED, *ACCELERATORS)
_SOFTWARE = re.compile(r"Selected adapter: .*adapterType=[^\n]*(?:CPU|Software)")
_NO_GPU = "this machine shows no GPU, and a software one is used only when it is asked for by name"
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
            raise ValueError(f"there is no accelerator {name!r}; choose auto or one of {', '.join(NAMES)}")
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
        raise ValueError("a ladder has at least one rung")
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
        return "no kernels of the CPU run it, so there is nothing to compare with"
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
