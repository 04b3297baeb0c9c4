"""Tries one accelerator: a worker loads, compiles, runs and times the model; outputs are compared."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from outlive.accelerators.configurations import AcceleratorConfig
from outlive.accelerators.coverage import Death, Difference
from outlive.errors import OutliveError, RuntimeMissing
from outlive.interpreter.agreement import Values, furthest_apart
from outlive.interpreter.feeds import make_feeds
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.judge import Judge
from outlive.interpreter.recorded_run import allocate_for
from outlive.process.flight import Flight
from outlive.process.limits import Limits
from outlive.records import copy_fields

# These give other values at each run.
_RANDOM = frozenset({"RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"})
# A run is timed until it has taken this long altogether, or has been run this often.
_TIMED_S, _TIMED_RUNS = 0.3, 15
_MOST_WORDS = 400
_COMPLAINTS = (ValueError, TypeError, LookupError, AttributeError, RuntimeError, MemoryError, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSettings:
    """What is tried: the model, what it is fed, and what a worker may use."""

    source: str | bytes
    judge: Judge
    inputs: Any = None
    seed: int = 0
    limits: Limits = field(default_factory=lambda: Limits(seconds=60.0))


@dataclass(slots=True)
class AcceleratorTrial:
    """What was seen of one way, as far as it came."""

    compiles: bool = False
    runs: bool = False
    error: str = ""
    death: Death | None = None
    flight: Flight | None = None
    missing: str = ""
    nodes: list[Any] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    values: Values = field(default_factory=dict)
    milliseconds: float | None = None
    compile_milliseconds: float | None = None
    peak_bytes: int | None = None
    fully_accelerated: bool | None = None
    words: str = ""
    runtime: dict[str, Any] = field(default_factory=dict)


def run_trial(config: AcceleratorConfig, settings: TrialSettings, run: bool = True) -> AcceleratorTrial:
    """Try a way; with `run` false the model is compiled and not run. Nothing is raised for what it does."""
    seen = AcceleratorTrial()
    with _noting_the_end(seen):
        source: dict[str, Any] = {
            "model_content" if isinstance(settings.source, bytes) else "model_path": settings.source
        }
        start = time.perf_counter()
        interpreter = WorkerInterpreter(
            **source,
            memory=settings.limits.memory_bytes,
            seconds=settings.limits.seconds,
            _judge=settings.judge,
            **config.to_arguments(),
        )
        try:
            _follow(interpreter, settings, seen, config.compiled is not None, start, run)
            interpreter.close()
        except BaseException:
            interpreter.kill()
            raise
    return seen


def why_not_comparable(op_types: Sequence[str]) -> str:
    """Why outputs of this model cannot be compared; empty if they can."""
    drawn = sorted(_RANDOM.intersection(op_types))
    return f"{', '.join(drawn)} makes different values in each run" if drawn else ""


def compare(
    against: str,
    reference: AcceleratorTrial,
    seen: AcceleratorTrial,
    arithmetic: str,
    quantized: bool = False,
) -> Difference:
    """How far the outputs of a trial are from the reference's: the output furthest from what is normal."""
    apart = furthest_apart(
        reference.rows, reference.values, seen.values, arithmetic=arithmetic, quantized=quantized
    )
    return Difference(against=against, **apart._asdict())


@contextlib.contextmanager
def _noting_the_end(seen: AcceleratorTrial) -> Iterator[None]:
    """Turn every ending into words of the attempt."""
    try:
        yield
    except RuntimeMissing as error:
        seen.missing = error.finding.headline
    except OutliveError as error:
        seen.runs = False
        flight = getattr(error, "flight", None)
        if isinstance(flight, Flight):
            seen.flight = flight
            seen.words = seen.words or flight.stderr_tail
            seen.death = _death(flight, error.finding.headline) if flight.died else None
        seen.error = _plain(str(error), error.finding.headline)
    except _COMPLAINTS as error:
        seen.runs = False
        seen.error = _plain(str(error), type(error).__name__)


def _follow(
    interpreter: WorkerInterpreter,
    settings: TrialSettings,
    seen: AcceleratorTrial,
    compiled: bool,
    start: float,
    run: bool,
) -> None:
    """Allocate, run and time; what is learnt is noted at once, because the next step may be the last."""
    seen.runtime = dict(interpreter.story().runtime)
    allocate_for(interpreter, settings.inputs)
    seen.compiles = True
    seen.compile_milliseconds = (time.perf_counter() - start) * 1000
    seen.nodes = interpreter.nodes()
    _listen(interpreter, seen, compiled)
    if not run:
        return
    for index, value in make_feeds(interpreter.get_input_details(), settings.inputs, settings.seed).items():
        interpreter.set_tensor(index, value)
    first = _timed(interpreter.invoke)
    seen.rows = interpreter.get_output_details()
    seen.values = {int(row["index"]): interpreter.get_tensor(row["index"]) for row in seen.rows}
    seen.runs = True
    seen.peak_bytes = interpreter.story().peak_bytes
    seen.milliseconds = _typical(interpreter, first)
    _listen(interpreter, seen, compiled)


def _listen(interpreter: WorkerInterpreter, seen: AcceleratorTrial, compiled: bool) -> None:
    """Keep what an accelerator has printed of itself."""
    if compiled:
        seen.fully_accelerated, seen.words = interpreter.report()


def _timed(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _typical(interpreter: WorkerInterpreter, first: float) -> float:
    """Milliseconds of a run when nothing is new any more; of the only one, if it is slow."""
    times: list[float] = []
    while sum(times) + first < _TIMED_S and len(times) < _TIMED_RUNS:
        times.append(_timed(interpreter.invoke))
    return (median(times) if times else first) * 1000


def _death(flight: Flight, headline: str) -> Death:
    op_type, op_index = ("", None) if flight.op is None else (flight.op.type, flight.op.index)
    signal = flight.signal or ""
    return copy_fields(Death, flight, signal=signal, op_type=op_type, op_index=op_index, headline=headline)


def _plain(text: str, otherwise: str) -> str:
    """The runtime's own words, without the finding that is drawn below them."""
    own = "" if text.startswith("error[") else text.partition("\nerror[")[0]
    words = " ".join(own.split())[:_MOST_WORDS]
    return words or otherwise
