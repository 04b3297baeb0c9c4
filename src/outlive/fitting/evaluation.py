"""One candidate from its description to its verdict: built, planned, run under the budget, and compared.

build ─► plan ── hopeless: no run ─► a run within the budget ─► what it loses ─► Outcome
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from outlive.arena.arena_size import arena_for
from outlive.arena.budget import Budget, Verdict, certain_bytes, needed_bytes, weigh
from outlive.arena.plan import Plan
from outlive.arena.questions import PlanRequest
from outlive.fitting.candidate_builder import Built, CandidateBuilder, NotBuilt
from outlive.fitting.fit_result import Candidate, Outcome, VerdictWord
from outlive.fitting.limited_runs import LimitedRuns
from outlive.fitting.loss import LossMeter, LossUnknown, TimeIsUp
from outlive.planning.planner import plan_model

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
            return f"it takes {certain_bytes(plan):,} bytes for certain, more than there are"
        if needed - max(SLACK_BYTES, SLACK_SHARE * needed) > ram:
            return f"it is planned to take {needed:,} bytes, {needed - ram:,} more than there are"
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
            why = f"it took {seen.peak_bytes:,} bytes, {over:,} more than there are"
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
            reason = f"its loss is not known: {error}"
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
