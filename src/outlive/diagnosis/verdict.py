"""The verdict: what flights and findings come to. Touches no process and no file.

error-level findings about the file or the call ──┐
how it ended, and where                           ├──► cause, operator, finding, how sure
which trials ran                                  ┘
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from outlive.diagnosis.advice import KnownLimits, remedies_that_hold
from outlive.diagnosis.blamed_operator import blamed_op, pick
from outlive.diagnosis.diagnosis_record import AS_IT_IS, CauseVerdict, Trial
from outlive.diagnosis.flight_cause import EndCause, cause_of_end
from outlive.diagnosis.frame_hints import hinted_causes
from outlive.finding import Evidence, Finding, OpPlace, Remedy, Severity, Tag
from outlive.process.flight import OpSeen
from outlive.rules import find_rule, judge
from outlive.rules.flight_end import RefusedValues

# Rules on ends that may have many reasons: a crash, a division that has no result, what a runtime refuses.
_VAGUE = ("D504", "D506", "D511")
# Causes that show in how it ended, whatever else is wrong with the file.
_DECIDED_BY_THE_END = frozenset({"infinite-loop", "hang"})
_ACCELERATOR_WORDS = {
    "without delegates": "builtin",
    "reference kernels": "reference",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All that a verdict is made from. `owners` are the operators that read a broken part of the file.

    `fixed_shapes` if the file leaves no dimension of its inputs open.
    """

    end: Trial
    trials: tuple[Trial, ...]
    findings: tuple[Finding, ...]
    needed: OpSeen | None = None
    owners: tuple[OpSeen, ...] = ()
    loops: tuple[OpSeen, ...] = ()
    sized: tuple[OpSeen, ...] = ()
    hollow: tuple[OpSeen, ...] = ()
    fixed_shapes: bool = False


def decide(seen: Seen) -> CauseVerdict:
    """The verdict on an end that was not a good one."""
    by_flight = cause_of_end(seen.end, seen.trials, seen.loops, seen.sized)
    static = _static(seen, by_flight)
    by_end = by_flight.certain or by_flight.cause in _DECIDED_BY_THE_END
    causes = (static and static.cause, by_flight.cause)
    if causes == ("runtime-shape-from-input", "out-of-memory"):
        by_end = True  # sizes that could be had with more memory: the runtime refused, and no process died
    if static is not None and (not by_end or static.cause == by_flight.cause):
        op = blamed_op(seen.end.flight, static, seen.needed, seen.owners)
        finding = _enrich(static, seen)
        return CauseVerdict(cause=static.cause, finding=finding, op=op, ruled_out=_ruled_out(seen))
    op, death = _op_of(seen, by_flight), _death(seen.end)
    cause = death.cause if by_flight.cause == "unknown" and death.cause else by_flight.cause
    death = known_end(replace(death, cause=cause), by_flight)
    finding = _enrich(death, seen, by_flight.evidence)
    if by_flight.why:
        finding = replace(finding, why=by_flight.why)
    if by_flight.remedies:
        advice = (*_not_said(by_flight.remedies, finding), *finding.remedies)
        finding = replace(finding, remedies=remedies_that_hold(advice, _limits(seen)))
    return CauseVerdict(
        cause=cause,
        finding=finding,
        op=op,
        ruled_out=_ruled_out(seen),
        missing=_missing(seen, cause),
    )


def known_end(finding: Finding, end: EndCause) -> Finding:
    """The finding on an end under the rule that its words or registers mean, where there is one."""
    rule = find_rule(end.code) if finding.code in _VAGUE and end.code[:1] not in ("", "D") else None
    if rule is None:
        return finding
    return replace(finding, code=rule.code, name=rule.name, headline=rule.summary, severity=Severity.ERROR)


def _limits(seen: Seen) -> KnownLimits:
    failed = tuple(trial.name for trial in seen.trials if not trial.ran)
    return KnownLimits(failed=failed, fixed_shapes=seen.fixed_shapes)


def _not_said(remedies: Sequence[Remedy], finding: Finding) -> list[Remedy]:
    """Remedies without those whose command the finding has already, as one that was seen to work."""
    commands = [item.command for item in finding.remedies if item.command]
    return [item for item in remedies if not any(command in item.action for command in commands)]


def _op_of(seen: Seen, by_flight: EndCause) -> OpSeen | None:
    """The operator of an end that tells its cause itself; findings of any weight may know where it is."""
    known = [item.op for item in seen.findings if item.op is not None and item.cause == by_flight.cause]
    if by_flight.op is not None and (by_flight.op.index is not None or not known):
        return by_flight.op
    if len({(op.subgraph, op.index) for op in known}) == 1:
        return OpSeen(type=known[0].type, subgraph=known[0].subgraph, index=known[0].index)
    return by_flight.op or blamed_op(seen.end.flight, None, seen.needed, seen.owners)


def decide_unhurt(
    findings: Sequence[Finding], trials: Sequence[Trial], owners: Sequence[OpSeen]
) -> CauseVerdict | None:
    """The verdict on a model that ran, although its file is wrong; None if nothing is."""
    static = pick([finding for finding in findings if _accuses(finding)], None)
    if static is None:
        return None
    op = blamed_op(None, static, None, owners)
    fact = f"it ran here in {sum(trial.ran for trial in trials)} of {len(trials)} trials: luck, not safety"
    finding = replace(static, evidence=(*static.evidence, Evidence(fact=fact, source="trials")))
    return CauseVerdict(cause=static.cause, finding=finding, op=op)


def refused_probes(trials: Sequence[Trial], sized: Sequence[OpSeen]) -> tuple[Finding, ...]:
    """What is said of plain inputs that were refused, by a model that runs with others."""
    found: list[Finding] = []
    for trial in trials:
        values = trial.name.removeprefix("inputs: ")
        if trial.manner != "refused" or values not in ("zeros", "ones"):
            continue
        by_flight = cause_of_end(trial, trials, (), sized)
        at = by_flight.op if by_flight.op is not None and by_flight.op.index is not None else None
        fact = RefusedValues(
            values=values,
            flight=trial.flight,
            cause=by_flight.cause,
            meaning=by_flight.why,
            op=None if at is None else OpPlace(subgraph=at.subgraph, index=at.index or 0, type=at.type),
        )
        found += judge({"refused": fact}).findings
    return tuple(found)


def _static(seen: Seen, by_flight: EndCause) -> Finding | None:
    accusing = [finding for finding in seen.findings if _accuses(finding)]
    if seen.end.refusal is not None and seen.end.refusal.name in CALL_CAUSES:
        # Floats for quantized integers are more than a wrong type: the values are wrong as well.
        values = (finding for finding in accusing if finding.cause == "not-quantized")
        return next(values, with_call_cause(seen.end.refusal))
    named = by_flight.op if by_flight.op is not None and by_flight.op.index is not None else None
    op = named or blamed_op(seen.end.flight, None, seen.needed, seen.owners)
    return _most_basic(pick(accusing, op, hinted_causes(seen.end.flight.frames)), seen.hollow)


def _most_basic(found: Finding | None, hollow: Sequence[OpSeen]) -> Finding | None:
    """Sizes that do not agree because one is zero, here or in weights before: the zero is the cause."""
    if found is None or found.op is None or found.cause != "shape-mismatch":
        return found
    at = found.op
    before = [op for op in hollow if op.subgraph == at.subgraph and (op.index or 0) <= at.index]
    if not before:
        return found
    last = before[-1]
    place = OpPlace(subgraph=last.subgraph, index=last.index or 0, type=last.type)
    fact = f"op {last.index} {last.type} reads weights without elements"
    evidence = (*found.evidence, Evidence(fact=fact, source="file"))
    return replace(found, cause="zero-size-dimension", op=place, evidence=evidence)


# What rules on calls find, in the words of the taxonomy.
CALL_CAUSES = {
    "missing-batch": "wrong-shape",
    "wrong-layout": "wrong-layout",
    "wrong-shape": "wrong-shape",
    "wrong-dtype": "wrong-dtype",
    "swapped-bytes": "wrong-layout",
    "constant-overwritten": "write-to-constant",
    "not-computed": "call-order",
    "unset-string": "string-tensor-unset",
    "zero-divisor": "constant-out-of-range",
}


def with_call_cause(finding: Finding) -> Finding:
    """The finding on a call with its word of the taxonomy, where its rule has none."""
    return finding if finding.cause else replace(finding, cause=CALL_CAUSES.get(finding.name, ""))


def _accuses(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR and bool(finding.cause)


def _death(end: Trial) -> Finding:
    """What the rules on flights say of this end: one of them always does."""
    if end.refusal is not None:
        return end.refusal
    judgement = judge({"flight": end.flight})
    return judgement.findings[0]


def _enrich(finding: Finding, seen: Seen, more: tuple[Evidence, ...] = ()) -> Finding:
    """The finding with what the trials have shown, and the conditions that do work as its first remedies."""
    added = [*more]
    if finding.code[:1] != "D":
        added.append(Evidence(fact=seen.end.ending, source="trial"))
    if seen.end.name != AS_IT_IS:
        added.append(Evidence(fact=f"it ended so with: {seen.end.name}", source="trial"))
    running = seen.end.flight.op
    if seen.needed is not None and running is not None and seen.needed.index != running.index:
        fact = f"the shortest failing prefix ends with operator {seen.needed.index} ({seen.needed.type})"
        added.append(Evidence(fact=fact, source="bisection"))
    working = _working(seen)
    known = {remedy.command for remedy in working}
    remedies = (*working, *(item for item in finding.remedies if item.command not in known))
    return replace(
        finding,
        evidence=(*finding.evidence, *added),
        remedies=remedies_that_hold(remedies, _limits(seen)),
    )


def _working(seen: Seen) -> list[Remedy]:
    found = []
    for trial in seen.trials:
        kernels = _ACCELERATOR_WORDS.get(trial.name)
        if kernels and trial.ran:
            command = f"outlive run FILE --accelerator {kernels}"
            action = f"run it {'with ' if kernels == 'reference' else ''}{trial.name}"
            found.append(
                Remedy(action=action, tag=Tag.SAME_RESULTS, effect="works on this machine", command=command)
            )
    return found[:1]


def _ruled_out(seen: Seen) -> tuple[str, ...]:
    """What the trials exclude."""
    bad = {trial.name for trial in seen.trials if not trial.ran}
    words = {
        "without delegates": "XNNPACK (also crashes without it)",
        "reference kernels": "optimized kernels (also crashes with reference kernels)",
        "one thread": "threads (also crashes with one thread)",
        "from bytes": "a changing file (also crashes from bytes)",
        "zeros": "input values (also crashes with zeros)",
        "more memory": "the memory limit (also crashes with more memory)",
    }
    return tuple(said for name, said in words.items() if name in bad)


def _missing(seen: Seen, cause: str) -> tuple[str, ...]:
    if cause != "unknown":
        return ()
    found = [] if seen.end.flight.frames or not seen.end.flight.died else ["a native stack"]
    if seen.needed is None:
        found.append("an operator that bisection names")
    return (*found, "a rule that knows this fault")
