"""The cause of an end as far as the end itself tells it: limits, signals, frames, words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outlive.diagnosis.diagnosis_record import Trial
from outlive.diagnosis.frame_hints import hinted_causes, said_by
from outlive.diagnosis.messages import Match, code_of, translate
from outlive.diagnosis.sized_operators import SIZED_BY_VALUES, UNCHECKED
from outlive.finding import Evidence, Remedy, Tag
from outlive.process.flight import Flight, OpSeen
from outlive.rules import flight_end as witness

_DIVIDERS = frozenset({"DIV", "FLOOR_DIV", "FLOOR_MOD", "STABLEHLO_DIVIDE", "STABLEHLO_REMAINDER"})
# Messages of this weight name the fault itself; lighter ones only what came of it.
_PLAIN_WORDS = 8
_LOOPS = frozenset({"WHILE", "STABLEHLO_WHILE"})
_XNNPACK_WORDS = ("xnn_", "xnnpack", "pthreadpool")
# The rule on inputs that are sizes.
_SIZE_RULE = "I311"
# Trials that change only the values the model is fed.
_VALUE_TRIALS = frozenset({"zeros", "ones", "usual inputs", "fitting sizes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EndCause:
    """What an end tells of its cause; `certain` if no fault of the file can be behind it.

    `code` is the rule that the tables of messages name for it, in an autopsy as here.
    """

    cause: str
    certain: bool = False
    code: str = ""
    why: str = ""
    op: OpSeen | None = None
    evidence: tuple[Evidence, ...] = ()
    remedies: tuple[Remedy, ...] = ()


def cause_of_end(
    end: Trial, trials: Sequence[Trial], loops: Sequence[OpSeen] = (), sized: Sequence[OpSeen] = ()
) -> EndCause:
    """The cause, "unknown" if the end is silent about it.

    `loops` are the loops of the model, `sized` its operators whose output is as large as values say.
    """
    flight, kind = end.flight, witness.cause(end.flight)
    worked = {trial.name for trial in trials if trial.ran}
    if kind == "deadline":
        return _late(flight, loops)
    if kind in ("memory-limit", "killed-for-memory"):
        return _starved(flight, worked)
    if kind == "threads-refused":
        return EndCause(cause=kind, certain=True)
    if kind == "refusal":
        return _refused_at_all(flight, trials, sized)
    if kind == "arithmetic-fault":
        return _divided(flight)
    if kind in ("memory-fault", "abort"):
        return _faulted(end, worked, sized, alone=len(trials) < 2)
    return EndCause(cause="unknown")


def _faulted(end: Trial, worked: set[str], sized: Sequence[OpSeen], alone: bool) -> EndCause:
    """A crash: what changes it tells more than where it was."""
    flight, said = end.flight, said_by(end.flight.frames)
    if said is not None and not worked:
        remedies = _remedies(said, bool(flight.resized))
        return EndCause(cause=said.message.cause, why=said.meaning, remedies=remedies)
    if flight.signal == "SIGBUS" and isinstance(end.conditions.source, str) and (worked or alone):
        second = "; a second run is fine" if worked else ""
        why = f"the mapped file was made shorter or overwritten while the model was in use{second}"
        return EndCause(cause="file-changed-while-mapped", certain=bool(worked), why=why)
    if _in_delegate(flight) and "without delegates" in worked:
        why = "it dies inside XNNPACK, and runs with LiteRT's own kernels"
        return EndCause(cause="delegate-crash", why=why)
    if worked & _VALUE_TRIALS or end.name in _PROBED:
        return _by_values(flight, sized)
    if alone and flight.op is not None and flight.op.type in UNCHECKED and flight.stage == "invoke":
        return _by_values(flight, sized)
    if hinted_causes(flight.frames):
        why = "it was working out how to multiply quantized numbers, and a scale does not allow it"
        return EndCause(cause="quant-scale-invalid", why=why)
    return EndCause(cause="unknown")


_PROBED = frozenset({"inputs: negative", "inputs: large", "inputs: largest", "inputs: smallest"})


def _late(flight: Flight, loops: Sequence[OpSeen]) -> EndCause:
    in_loop = flight.op is not None and flight.op.type in _LOOPS
    framed = any("while_kernel" in frame or "::While" in frame for frame in flight.frames)
    if in_loop or framed or loops:
        return EndCause(
            cause="infinite-loop",
            why="a loop (WHILE) was still running at the deadline: with these inputs it does not end",
            op=flight.op if in_loop else loops[0] if len(loops) == 1 else OpSeen(type="WHILE"),
        )
    return EndCause(cause="hang", why="it was still busy at the deadline, and the model has no loop")


def _starved(flight: Flight, worked: set[str]) -> EndCause:
    more = (Evidence(fact="with more memory it runs", source="trial"),) if "more memory" in worked else ()
    limited = flight.limits.get("memory_bytes") is not None
    if flight.signal == "SIGSEGV":
        return EndCause(cause="unchecked-allocation", certain=limited, evidence=more)
    killed = flight.ended_by == "memory" or flight.signal == "SIGKILL"
    return EndCause(cause="out-of-memory", certain=limited or killed or bool(more), evidence=more)


def _refused_at_all(flight: Flight, trials: Sequence[Trial], sized: Sequence[OpSeen]) -> EndCause:
    """What a refusal tells; where a delegate has no words for it, what LiteRT's own kernels say."""
    found_cause = _refused(flight, trials, sized)
    plain = next((trial.flight for trial in trials if trial.name == "without delegates"), None)
    if found_cause.cause != "unknown" or plain is None or witness.cause(plain) != "refusal":
        return found_cause
    return _refused(plain, trials, sized)


def _refused(flight: Flight, trials: Sequence[Trial], sized: Sequence[OpSeen]) -> EndCause:
    worked = {trial.name for trial in trials if trial.ran}
    resized = flight.resized is None or bool(flight.resized)
    found = translate(flight.error_text)
    if found is None:
        return EndCause(cause="unknown")
    op = _named_op(found)
    in_vain = not worked & _VALUE_TRIALS and any(trial.name in _VALUE_TRIALS for trial in trials)
    by_size = flight.stage == "invoke" and not in_vain and _is_sized(op, sized, worked)
    cause, why = found.message.cause or "unknown", found.meaning
    if flight.stage == "allocate" and "usual inputs" in worked:
        cause, why = "bad-resize", f"{why}; with inputs of the file's own shapes it runs"
    elif cause == "bad-resize" and not resized:
        # Nothing was resized: the delegate does not want the file's own shapes, or an operator.
        cause = "delegate-refused" if "failed to reshape" in flight.error_text else "shape-mismatch"
    if cause == "delegate-refused" and "without delegates" not in worked:
        cause = "unknown"  # it is not the delegate alone that does not want it
    whole = found.message.pattern is not None and found.message.pattern.fullmatch(
        flight.error_text.strip(" .")
    )
    if by_size and whole:
        cause, why = "out-of-memory", _NO_WORD
    elif by_size and cause in ("unknown", "shape-mismatch"):
        cause, why = "runtime-shape-from-input", f"{why}; {_SIZES}"
    elif cause == "unknown" and worked & _VALUE_TRIALS:
        cause, why = "data-dependent-index", f"{why}; with other values of its inputs it runs"
    certain = found.message.weight >= _PLAIN_WORDS and cause == found.message.cause
    code = (found.message.code or code_of(cause)) if cause == found.message.cause else ""
    return EndCause(
        cause=cause, certain=certain, code=code, why=why, op=op, remedies=_remedies(found, resized)
    )


# LiteRT, tflite/core/subgraph.cc: an operator that cannot make its output as large as asked just fails.
_NO_WORD = "its output is as large as an input's values say, and memory of that size was not available"
_SIZES = "the values of an input decide the size of its output, and these do not fit"


def _is_sized(op: OpSeen | None, sized: Sequence[OpSeen], worked: set[str]) -> bool:
    """True if values that are only known at run time decide the size of what this operator makes."""
    if op is None or op.type not in SIZED_BY_VALUES:
        return False
    known = any(item.type == op.type and op.index in (None, item.index) for item in sized)
    return known or bool(worked & _VALUE_TRIALS) or not sized


def _remedies(found: Match, resized: bool) -> tuple[Remedy, ...]:
    return tuple(Remedy(action=action, tag=Tag.SAME_RESULTS) for action in found.advice_for(resized))


def _named_op(found: Match) -> OpSeen | None:
    """The operator that the message names; a delegate's own node is none of the model's."""
    kind, node = found.groups.get("op"), found.groups.get("node")
    if not kind or "Delegate" in kind:
        return None
    return OpSeen(type=kind, index=int(node) if node and node.isdigit() else None)


def _divided(flight: Flight) -> EndCause:
    divisor = None if flight.division is None else flight.division[1]
    divides = flight.op is not None and flight.op.type in _DIVIDERS and flight.stage == "invoke"
    if divisor == -1 or (divides and divisor != 0):
        why = "the smallest integer was divided by -1: the result does not fit, and the processor stops"
        # By the registers; or it is FLOOR_MOD, which refuses a zero in words (tflite/kernels/floor_mod.cc).
        certain = divisor == -1 or (flight.op is not None and flight.op.type == "FLOOR_MOD")
        return EndCause(cause="int-min-divided-by-minus-one", code="I309" if certain else "", why=why)
    if divides:
        why = "an integer was divided by zero while the model ran"
        return EndCause(cause="constant-out-of-range", why=why)
    if flight.stage == "allocate":
        why = "a size, stride or count of zero was divided by while the model was prepared"
        return EndCause(cause="option-out-of-range", why=why)
    return EndCause(cause="zero-size-dimension", why="a size of zero was divided by while the model ran")


def _in_delegate(flight: Flight) -> bool:
    return any(word in frame.lower() for frame in flight.frames for word in _XNNPACK_WORDS)


def _by_values(flight: Flight, sized: Sequence[OpSeen]) -> EndCause:
    op = flight.op
    if op is not None and op.type in SIZED_BY_VALUES:
        why = "an input's values decide the size of the output, and these values are not sane"
        open_size = any(item.type == op.type for item in sized)
        code = _SIZE_RULE if open_size and op.type in UNCHECKED else ""
        return EndCause(cause="runtime-shape-from-input", code=code, why=why)
    why = "it dies with some values of its inputs and not with others, as when one is used as an index"
    return EndCause(cause="data-dependent-index", why=why)
