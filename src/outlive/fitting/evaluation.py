"""One candidate from its description to its verdict: built, planned, run under the budget, and compared.

build ─► plan ── hopeless: no run ─► a run within the budget ─► what it loses ─► Outcome

Runs a candidate in a worker whose memory limit is the budget: it fits only if it ran there.

What is learnt is kept: that it ran under some limit, that it failed under another, and what it took when
nothing held it back. So another budget costs a run only where these do not say enough, and as budgets grow
the verdict changes once.
"""

import os
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any

import msgspec

from outlive.arena.budget import Budget, Verdict, arena_for, certain_bytes, needed_bytes, weigh
from outlive.arena.plan import Plan
from outlive.arena.questions import PlanRequest
from outlive.cache import ResultCache
from outlive.errors import InputError
from outlive.fitting.candidate_builder import Built, CandidateBuilder, NotBuilt
from outlive.fitting.fit_result import Candidate, Outcome, VerdictWord
from outlive.fitting.loss import LossMeter, LossUnknown, TimeIsUp
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.interpreter.judge import Judge
from outlive.interpreter.ladder import cpu_way
from outlive.interpreter.recorded_run import record_run
from outlive.planning.planner import plan_model
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


# How far a plan may be off: what pages, the allocator's reserve and the runtime's first use account for.
SLACK_BYTES, SLACK_SHARE = 1_048_576, 0.1
# What LiteRT's CompiledModel, which alone has a weight cache, takes more than its Interpreter: measured, 2.3.
_COMPILED_BYTES = 3_300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedCandidate:
    """An outcome, and the plan it comes from, if there is one. `late`: a run was ended for its time."""

    outcome: Outcome
    plan: Plan | None = None
    late: bool = False


@dataclass(slots=True)
class Evaluation:
    """Everything a candidate passes on its way to a verdict."""

    builder: CandidateBuilder
    limited_runs: LimitedRuns
    meter: LossMeter
    budget: Budget
    wish: PlanRequest
    max_loss: float | None = None
    # One at a time is run and timed: two would be in each other's way.
    _timing: Any = field(default_factory=threading.Lock)

    def evaluate(self, candidate: Candidate, rank: int) -> EvaluatedCandidate:
        """The verdict on a candidate."""
        outcome = Outcome(candidate=candidate, verdict="refused", rank=rank)
        try:
            built = self.builder.build(candidate.variant)
        except NotBuilt as error:
            return EvaluatedCandidate(outcome=replace(outcome, reason=str(error)))
        outcome = replace(
            outcome,
            inputs=built.inputs,
            outputs=built.outputs,
            file_bytes=built.model.file_bytes,
            notes=built.notes,
        )
        try:
            plan = _with_cache(plan_model(built.model, self._wish(candidate)), built, candidate)
        except Exception as error:
            # As with rules: what the planner cannot do with one file must not cost all the others.
            said = f"it cannot be planned: {type(error).__name__}: {error}"[:300]
            return EvaluatedCandidate(outcome=replace(outcome, reason=said))
        outcome = replace(outcome, peak_bytes=needed_bytes(plan))
        if plan.refusals:
            refused = "; ".join(f"{item.type}: {item.reason}" for item in plan.refusals[:2])
            return EvaluatedCandidate(
                outcome=replace(outcome, reason=f"the runtime refuses {refused}"[:300]), plan=plan
            )
        late = False
        if candidate.accelerator == "tflm":
            outcome = self._by_plan(outcome, built, plan)
        elif hopeless := self._hopeless(plan):
            outcome = replace(outcome, verdict="does not fit", reason=hopeless)
        else:
            outcome, late = self._run_limited(outcome, built, plan)
        return EvaluatedCandidate(outcome=self._compared(outcome, built), plan=plan, late=late)

    def _wish(self, candidate: Candidate) -> PlanRequest:
        return replace(
            self.wish,
            accelerator=candidate.accelerator,
            threads=candidate.threads,
            weight_cache=candidate.weight_cache,
        )

    def _hopeless(self, plan: Plan) -> str:
        """Why it is not even tried; empty if it may fit."""
        flash, ram = self.budget.flash_bytes, self.budget.ram_bytes
        if flash is not None and plan.file_bytes > flash:
            return f"the file has {plan.file_bytes:,} bytes, {plan.file_bytes - flash:,} more than the flash"
        needed = needed_bytes(plan) or 0
        if certain_bytes(plan) > ram:
            return f"needs at least {certain_bytes(plan):,} bytes, more than available"
        if needed - max(SLACK_BYTES, SLACK_SHARE * needed) > ram:
            return f"it is planned to take {needed:,} bytes, {needed - ram:,} more than available"
        return ""

    def _by_plan(self, outcome: Outcome, built: Built, plan: Plan) -> Outcome:
        """On a microcontroller the plan decides: there is none here to run it on."""
        arena = arena_for(built.model, plan, self.wish.abi)
        assert arena is not None, "a model that is refused does not come here"
        verdict = weigh(plan, self.budget, arena=arena)
        outcome = replace(outcome, peak_bytes=verdict.needed_bytes, arena_bytes=arena.bytes)
        return _with_verdict(outcome, verdict)

    def _run_limited(self, outcome: Outcome, built: Built, plan: Plan) -> tuple[Outcome, bool]:
        """The outcome, and whether a run was ended because it took too long."""
        ram = self.budget.ram_bytes
        with self._timing:
            seen = self.limited_runs.measure(built, outcome.candidate, ram)
        outcome = replace(outcome, measured_peak_bytes=seen.peak_bytes, milliseconds=seen.milliseconds)
        if seen.problem:
            word: VerdictWord = "died" if seen.died else "refused"
            return replace(outcome, verdict=word, reason=seen.problem), seen.late
        if not seen.fits(ram):
            over = 0 if seen.peak_bytes is None else seen.peak_bytes - ram
            why = f"it took {seen.peak_bytes:,} bytes, {over:,} more than available"
            if over <= 0:
                why = f"it did not run within {ram:,} bytes; with more, it touched {seen.peak_bytes:,}"
            return replace(outcome, verdict="does not fit", reason=why), seen.late
        # It ran within the budget: the verdict says how close that was.
        really = replace(
            plan,
            peak_bytes=seen.peak_bytes,
            total_bytes=None if seen.peak_bytes is None else seen.peak_bytes + (plan.mapped_bytes or 0),
            exact=True,
            bound="upper",
            parts=(),
        )
        return _with_verdict(outcome, weigh(really, self.budget)), False

    def _compared(self, outcome: Outcome, built: Built) -> Outcome:
        """The outcome with what it loses; what does not fit is not run on the samples."""
        if not outcome.fits:
            return outcome
        try:
            loss = self.meter.loss(built, outcome.candidate)
        except LossUnknown as error:
            reason = f"unknown loss: {error}"
            if self.max_loss is None:
                return replace(outcome, notes=(*outcome.notes, reason))
            word: VerdictWord = "not tried" if isinstance(error, TimeIsUp) else "loses too much"
            return replace(outcome, verdict=word, reason=reason)
        outcome = replace(outcome, **asdict(loss))
        if self.max_loss is not None and loss.loss_share > self.max_loss:
            of = " of the original's score" if loss.loss_share != loss.loss else ""
            reason = f"it loses {loss.loss_share:.3%}{of}, more than {self.max_loss:.3%}"
            return replace(outcome, verdict="loses too much", reason=reason)
        return outcome


def _with_verdict(outcome: Outcome, verdict: Verdict) -> Outcome:
    return replace(outcome, verdict=verdict.word, reason="; ".join(verdict.reasons))


def _with_cache(plan: Plan, built: Built, candidate: Candidate) -> Plan:
    """The plan of a run that writes a weight cache: it packs one constant at a time, the largest too."""
    if not candidate.weight_cache or plan.peak_bytes is None:
        return plan
    largest = max((tensor.buffer.size_bytes for tensor in built.model.tensors() if tensor.buffer), default=0)
    more = _COMPILED_BYTES + largest
    return replace(plan, peak_bytes=plan.peak_bytes + more, total_bytes=(plan.total_bytes or 0) + more)
