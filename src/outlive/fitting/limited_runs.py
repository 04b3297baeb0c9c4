"""Runs a candidate in a worker whose memory limit is the budget: it fits only if it ran there.

What is learnt is kept: that it ran under some limit, that it failed under another, and what it took when
nothing held it back. So another budget costs a run only where these do not say enough, and as budgets grow
the verdict changes once.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import msgspec

from outlive.cache import ResultCache
from outlive.errors import InputError
from outlive.fitting.candidate_builder import Built
from outlive.fitting.fit_result import Candidate
from outlive.interpreter.compiled_accelerators import cpu_way
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.interpreter.judge import Judge
from outlive.interpreter.recorded_run import record_run
from outlive.process.flight import Flight

_SECONDS = 120.0
# The first run touches memory for the first time; the others say how long a run takes.
_RUNS = 4
_MOST_WORDS = 300
# Runs of one file differ by some pages: nearer to the limit than this, one run says too little.
_CLOSE_BYTES, _CLOSE_TRIES = 131_072, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """What is known of a file under some settings, from all its runs.

    `fits_at` is the smallest limit it ran under, `fails_at` the largest it failed under. `problem` says why
    it does not run at all, however much memory there is. `late`: a run was ended because it took too long.
    """

    peak_bytes: int | None = None
    milliseconds: float | None = None
    fits_at: int | None = None
    fails_at: int | None = None
    problem: str = ""
    died: bool = False
    late: bool = False

    def fits(self, ram_bytes: int) -> bool | None:
        """Whether it fits; None if that has to be tried."""
        if self.problem or (self.peak_bytes is not None and self.peak_bytes > ram_bytes):
            return False
        if self.fails_at is not None and ram_bytes <= self.fails_at:
            return False
        return True if self.fits_at is not None and ram_bytes >= self.fits_at else None


class LimitedRuns:
    """Runs candidates under limits, and remembers."""

    def __init__(
        self, cache: ResultCache, judge: Judge, seconds_left: Callable[[], float | None] = lambda: None
    ) -> None:
        """Start with what the cache remembers."""
        self._cache, self._judge, self._seconds_left = cache, judge, seconds_left

    def measure(self, built: Built, candidate: Candidate, ram_bytes: int) -> MeasuredRun:
        """What is known about it once it is clear whether it fits; runs it where it is not."""
        key = (built.model.sha256, candidate.accelerator, candidate.weight_cache, candidate.threads)
        seen = _recalled(self._cache.recall("run", *key))
        if seen.fits(ram_bytes) is not None:
            return seen
        seen = self._try(built, candidate, ram_bytes, seen)
        if not seen.late:  # that is of the moment: a machine may be less busy another day
            self._cache.keep(asdict(seen), "run", *key)
        return seen

    def _try(self, built: Built, candidate: Candidate, ram_bytes: int, seen: MeasuredRun) -> MeasuredRun:
        capped = self._run_repeatedly(built, candidate, ram_bytes)
        peak = capped.peak_bytes
        if not _problem(capped) and peak is not None and peak <= ram_bytes:
            # Runs differ by some pages: the most that was ever seen counts.
            peak = max(peak, seen.peak_bytes or 0)
            return replace(seen, fits_at=ram_bytes, peak_bytes=peak, milliseconds=_milliseconds(capped))
        seen = replace(seen, fails_at=max(ram_bytes, seen.fails_at or 0), late=_is_late(capped))
        if seen.peak_bytes is not None:
            return seen
        # How much it would take, for the user and for the next budget.
        free = self._run(built, candidate, None)
        seen = replace(seen, died=free.died, late=seen.late or _is_late(free))
        if problem := _problem(free):
            return replace(seen, peak_bytes=None, milliseconds=None, problem=problem)
        return replace(seen, peak_bytes=free.peak_bytes, milliseconds=_milliseconds(free), problem="")

    def _run_repeatedly(self, built: Built, candidate: Candidate, ram_bytes: int) -> Flight:
        """The run that took most, of several where it is close: what happened to fit once must fit again."""
        flights = []
        for _ in range(_CLOSE_TRIES):
            flights.append(self._run(built, candidate, ram_bytes))
            if _problem(flights[-1]):
                return flights[-1]
            if ram_bytes - (flights[-1].peak_bytes or 0) > _CLOSE_BYTES:
                break
        return max(flights, key=lambda flight: flight.peak_bytes or 0)

    def _run(self, built: Built, candidate: Candidate, ram_bytes: int | None) -> Flight:
        if not candidate.weight_cache:
            return self._one_run(built, engine_arguments(candidate), ram_bytes)
        with tempfile.TemporaryDirectory(prefix="outlive-cache-") as folder:
            arguments = engine_arguments(candidate, os.path.join(folder, "weights"))
            first = self._one_run(built, arguments, ram_bytes)
            if _problem(first):
                return first
            second = self._one_run(built, arguments, ram_bytes)
            # The file is written by the first run, which has to fit as well.
            return replace(second, peak_bytes=max(first.peak_bytes or 0, second.peak_bytes or 0))

    def _one_run(self, built: Built, arguments: dict[str, Any], ram_bytes: int | None) -> Flight:
        left = self._seconds_left()
        limits: dict[str, Any] = {
            "memory": ram_bytes,
            "seconds": _SECONDS if left is None else min(_SECONDS, left),
        }
        # Zeros would do for memory, but not for models that take a size from an input.
        try:
            return record_run(
                "random", _RUNS, 0, model_path=built.path, judge=self._judge, **limits, **arguments
            )
        except InputError as error:  # refused with these settings; with others it may not be
            flight: Flight | None = error.flight
            if flight is None:
                raise
            return flight


def engine_arguments(candidate: Candidate, cache_path: str = "") -> dict[str, Any]:
    """What an interpreter is given for these settings."""
    if candidate.weight_cache:
        cpu: dict[str, Any] = {"xnnpack_weight_cache_path": cache_path}
        if candidate.threads is not None:
            cpu["num_threads"] = candidate.threads
        return {"_compiled": replace(cpu_way(), options={"cpu_options": cpu}).to_order()}
    return {
        "experimental_op_resolver_type": ACCELERATORS[candidate.accelerator],
        "num_threads": candidate.threads,
    }


def _problem(flight: Flight) -> str:
    if flight.died:
        return f"it died in stage {flight.stage} ({flight.signal or flight.ended_by or 'no signal'})"
    if flight.error_type:
        said = " ".join(flight.error_text.split())[:_MOST_WORDS] or flight.error_type
        return f"the runtime refused it: {said}"
    return ""


def _is_late(flight: Flight) -> bool:
    return flight.ended_by == "deadline"


def _milliseconds(flight: Flight) -> float | None:
    runs = [seconds for stage, seconds in flight.stages if stage.startswith("invoke")]
    return 1000 * median(runs[1:] or runs) if runs else None


def _recalled(note: dict[str, Any]) -> MeasuredRun:
    """What was kept, if it is sound; what is no number is forgotten."""
    try:
        return msgspec.convert(note, MeasuredRun)
    except msgspec.MsgspecError:
        return MeasuredRun()
