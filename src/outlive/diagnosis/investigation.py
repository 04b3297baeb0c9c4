"""Runs a model, and if it does not come back well, finds out what it takes: trials, bisection, verdict.

as it is ──ran──► probes: other inputs, a perturbed heap ──all ran──► it runs
    └─ended badly──► experiments, one change each ──► bisection ──► verdict
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from outlive.diagnosis.advice import has_fixed_shapes
from outlive.diagnosis.diagnosis_record import AS_IT_IS, CauseVerdict, Conditions, Diagnosis, Trial
from outlive.diagnosis.input_probes import PROBES, feedable, has_numbers_to_choose, probe, with_fitting_sizes
from outlive.diagnosis.operator_names import hollow_in, loops_in, owners_of, placed
from outlive.diagnosis.prefix_bisection import first_needed
from outlive.diagnosis.sized_operators import sized_by_inputs
from outlive.diagnosis.trial_run import PERTURBED, attempt, looked_into
from outlive.diagnosis.verdict import Seen, decide, decide_unhurt, refused_probes
from outlive.finding import Finding, Severity
from outlive.model import Model, Reading
from outlive.process.factories import close_special_factories
from outlive.process.flight import OpSeen
from outlive.rules import assess_run
from outlive.rules.flight_end import starved
from outlive.units import Step

# A whole diagnosis should be a matter of seconds; a trial that would begin later than this is left out.
_ENOUGH_S = 14.0
# A model that has hung once is not given long to hang again.
_HUNG_AGAIN_S = 2.0
_FAR_LONGER = 20
_PART_S = 5.0
_MOST_COPIED_BYTES = 512 << 20

Tell = Callable[[str], None]
Plan = tuple[str, Conditions]
# What the rules on given values say of a model and the inputs it is to get.
JudgeValues = Callable[[Model, Any], tuple[Finding, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """What is investigated: the file as it was read, what is known to be wrong with it, how to fly it."""

    reading: Reading
    findings: tuple[Finding, ...]
    conditions: Conditions
    judge_values: JudgeValues = lambda model, inputs: ()

    @property
    def model(self) -> Model | None:
        """The model as far as it could be read."""
        return self.reading.model

    @property
    def sound(self) -> bool:
        """True if the file can be trusted, and so be cut."""
        return self.model is not None and not self.reading.flaws

    @property
    def errors(self) -> bool:
        """True if something is wrong that does not need a run to be seen."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)


def investigate(case: Case, tell: Tell) -> Diagnosis:
    """The diagnosis; `tell` hears what is being tried. Workers of special kinds are gone afterwards."""
    try:
        return _Investigation(case, tell).diagnosis()
    finally:
        close_special_factories()
        gc.collect()  # dead interpreters are held by the tracebacks of their deaths, and hold descriptors


class _Investigation:
    def __init__(self, case: Case, tell: Tell) -> None:
        self._case, self._tell = case, tell
        self._start = time.monotonic()
        self._trials: list[Trial] = []
        self._planned = 1  # trials, as far as known

    def diagnosis(self) -> Diagnosis:
        end = self._first_bad_end()
        if end is None:
            return self._unhurt()
        self._experiment(end)
        needed = self._bisect(end)
        owners = owners_of(self._case.reading)
        seen = Seen(
            end=end,
            trials=tuple(self._trials),
            findings=(*self._case.findings, *self._on_values(end)),
            needed=needed,
            owners=owners,
            loops=loops_in(self._case.model),
            sized=sized_by_inputs(self._case.model),
            hollow=hollow_in(self._case.model),
            fixed_shapes=has_fixed_shapes(self._case.model),
        )
        return self._diagnosis(end, needed, decide(seen))

    def _on_values(self, end: Trial) -> tuple[Finding, ...]:
        """What is wrong with the values it ended with, where somebody chose them: the user, or a probe."""
        inputs, model = end.conditions.inputs, self._case.model
        chosen = inputs is not None and not isinstance(inputs, str)
        return self._case.judge_values(model, inputs) if chosen and model is not None else ()

    def _first_bad_end(self) -> Trial | None:
        first = self._try(AS_IT_IS, self._case.conditions)
        if not first.ran:
            return first
        # A runtime that refuses inputs of ours which make no sense does what it should.
        return next((trial for trial in self._probes(first) if trial.manner in ("died", "deadline")), None)

    def _probes(self, first: Trial) -> Iterator[Trial]:
        """The heap perturbed; and, if the inputs were ours to choose, others."""
        base = self._case.conditions
        others = list(self._other_inputs())
        self._planned += 1 + len(others)
        if not self._enough(first.seconds):
            yield self._try("perturbed heap", replace(base, environment=PERTURBED))
        for name, conditions in others:
            if self._enough(first.seconds):
                return
            # Inputs that take far longer than the usual ones will hardly end at all.
            limit = max(_HUNG_AGAIN_S, _FAR_LONGER * first.seconds)
            yield self._try(name, replace(conditions, seconds=min(limit, conditions.seconds or limit)))

    def _other_inputs(self) -> Iterator[Plan]:
        base, model = self._case.conditions, self._case.model
        if not _is_usual(base.inputs) or model is None or not feedable(model):
            return
        wide = self._case.errors or has_numbers_to_choose(model)
        for kind in PROBES if wide else PROBES[:2]:
            yield f"inputs: {kind}", replace(base, inputs=probe(model, kind))

    def _experiment(self, end: Trial) -> None:
        hung = end.manner == "deadline"
        experiments = list(self._experiments(end))
        self._planned = len(self._trials) + len(experiments)
        for name, conditions in experiments:
            if self._enough(_HUNG_AGAIN_S if hung else end.seconds):
                return
            limit = min(_HUNG_AGAIN_S, conditions.seconds or _HUNG_AGAIN_S) if hung else conditions.seconds
            self._try(name, replace(conditions, seconds=limit))

    def _experiments(self, end: Trial) -> Iterator[Plan]:
        """One change at a time; the most telling first, for time may run out."""
        base, model = end.conditions, self._case.model
        if end.refusal is not None:
            base = replace(base, shapes={})  # other inputs than the refused ones have the file's shapes
        if base.accelerator == "cpu":
            yield "without delegates", replace(base, accelerator="builtin")
        yield "reference kernels", replace(base, accelerator="reference")
        if base.shapes and end.flight.stage == "allocate":
            yield "usual inputs", replace(base, inputs=None, shapes={})
        if starved(end.flight):
            yield "more memory", replace(base, memory_bytes=None)
        if end.flight.stage in ("set", "invoke", "get", "free") and model is not None and feedable(model):
            if not _is_usual(base.inputs):
                yield "usual inputs", replace(base, inputs=None, shapes={})
            sizes = with_fitting_sizes(model)
            if sizes is not None:
                yield "fitting sizes", replace(base, inputs=sizes, shapes={})
            if end.name == AS_IT_IS:
                yield "zeros", replace(base, inputs="zeros")
                yield "ones", replace(base, inputs="ones")
        if base.threads != 1:
            yield "one thread", replace(base, threads=1)
        copied = _bytes_of(base.source, self._case.reading.file_bytes)
        if copied is not None:
            yield "from bytes", replace(base, source=copied)
        if not base.environment:
            yield "perturbed heap", replace(base, environment=PERTURBED)

    def _bisect(self, end: Trial) -> OpSeen | None:
        model = self._case.model
        if not self._case.sound or model is None or not model.subgraphs:
            return None
        running = end.flight.op
        if end.manner == "deadline" and running is not None and running.index is not None:
            return None  # every step would take its whole deadline, to learn what is known
        if end.refusal is not None and end.refusal.code.startswith("I"):
            return None  # the call was refused before the model was asked
        seconds = _HUNG_AGAIN_S if end.manner == "deadline" else _PART_S
        return first_needed(model, end, seconds, lambda: self._enough(end.seconds), self._tell)

    def _enough(self, seconds: float) -> bool:
        return time.monotonic() - self._start + seconds > _ENOUGH_S

    def _try(self, name: str, conditions: Conditions) -> Trial:
        words = "running it as it is" if name == AS_IT_IS else f"trying {name}"
        self._tell(Step(words, len(self._trials), self._planned))
        trial = placed(attempt(name, conditions), self._case.model)
        self._trials.append(trial)
        return trial

    def _unhurt(self) -> Diagnosis:
        first = self._trials[0]
        model = self._case.model
        silent = assess_run(looked_into(first), self._case.reading)
        refused = refused_probes(self._trials, sized_by_inputs(model))
        # Rules on the file have been asked before: what a run would say again is said once.
        known = (*self._case.findings, *self._on_values(first))
        findings = (*known, *(item for item in silent if item not in known), *refused)
        verdict = decide_unhurt(findings, self._trials, owners_of(self._case.reading))
        return replace(self._diagnosis(None, None, verdict), findings=findings)

    def _diagnosis(self, end: Trial | None, needed: OpSeen | None, verdict: CauseVerdict | None) -> Diagnosis:
        last = self._trials[0] if end is None else end
        return Diagnosis(
            path=self._case.reading.path,
            verdict=None if verdict is None else verdict.finding,
            cause="" if verdict is None else verdict.cause,
            stage=last.flight.stage,
            signal=None if last.flight.ended_by else last.flight.signal,
            op=None if verdict is None else verdict.op,
            running=last.flight.op,
            needed=needed,
            works_with=tuple(trial.name for trial in self._trials if trial.ran),
            trials=tuple(self._trials),
            findings=self._case.findings,
            ruled_out=() if verdict is None else (*verdict.ruled_out,),
            end=end,
        )


def _bytes_of(source: str | bytes, file_bytes: int) -> bytes | None:
    """The file's bytes; None if they are in memory already, too many, or not to be had."""
    if isinstance(source, bytes) or file_bytes > _MOST_COPIED_BYTES:
        return None
    try:
        return Path(source).read_bytes() or None
    except OSError:
        return None


def _is_usual(inputs: object) -> bool:
    """True if the inputs were not chosen by the user."""
    return inputs is None or (isinstance(inputs, str) and inputs == "random")
