"""The cause of an end as far as the end itself tells it: limits, signals, frames, words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outlive.diagnosis.messages import Match, translate
from outlive.diagnosis.nouns import Trial
from outlive.finding import Evidence, Remedy, Tag
from outlive.rules import witness
from outlive.worker.flight import Flight, OpSeen

_DIVIDERS = frozenset({"DIV", "FLOOR_DIV", "FLOOR_MOD", "STABLEHLO_DIVIDE", "STABLEHLO_REMAINDER"})
# Operators whose output is as large as the values of an input say.
_SIZED_BY_VALUES = frozenset(
    {
        "RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL", "FILL", "RANGE", "RESHAPE", "BROADCAST_TO",
        "ONE_HOT", "TILE", "PAD", "PADV2", "MIRROR_PAD", "SLICE", "STRIDED_SLICE", "SPARSE_TO_DENSE",
        "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "DYNAMIC_UPDATE_SLICE", "SCATTER_ND",
        "STABLEHLO_RNG_BIT_GENERATOR", "TRANSPOSE_CONV", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "CUMSUM",
    }
)  # fmt: skip
# Messages of this weight name the fault itself; lighter ones only what came of it.
_PLAIN_WORDS = 8
_LOOPS = frozenset({"WHILE", "STABLEHLO_WHILE"})
_XNNPACK_WORDS = ("xnn_", "xnnpack", "pthreadpool")
# Trials that change only the values the model is fed.
_VALUE_TRIALS = frozenset({"zeros", "ones", "usual inputs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What an end tells of its cause; `certain` if no fault of the file can be behind it."""

    cause: str
    certain: bool = False
    why: str = ""
    op: OpSeen | None = None
    evidence: tuple[Evidence, ...] = ()
    remedies: tuple[Remedy, ...] = ()


def cause_of_end(end: Trial, trials: Sequence[Trial], loops: Sequence[OpSeen] = ()) -> Told:
    """The cause, "unknown" if the end is silent about it. `loops` are the loops of the model."""
    flight, kind = end.flight, witness.cause(end.flight)
    worked = {trial.name for trial in trials if trial.ran}
    if kind == "deadline":
        return _late(flight, loops)
    if kind in ("memory-limit", "killed-for-memory"):
        return _starved(flight, worked)
    if kind == "refusal":
        return _refused(flight, worked)
    if flight.signal == "SIGBUS" and isinstance(end.conditions.source, str) and worked:
        why = (
            "the mapped file was made shorter or overwritten while the model was in use; a second run is fine"
        )
        return Told(cause="file-changed-while-mapped", certain=True, why=why)
    if kind == "arithmetic-fault":
        return _divided(flight)
    if _in_delegate(flight) and "without delegates" in worked:
        why = "it dies inside XNNPACK, and runs with LiteRT's own kernels"
        return Told(cause="delegate-crash", why=why)
    if kind in ("memory-fault", "abort") and (worked & _VALUE_TRIALS or end.name in _PROBED):
        return _by_values(flight)
    return Told(cause="unknown")


_PROBED = frozenset({"inputs: negative", "inputs: large", "inputs: largest", "inputs: smallest"})


def _late(flight: Flight, loops: Sequence[OpSeen]) -> Told:
    in_loop = flight.op is not None and flight.op.type in _LOOPS
    framed = any("while_kernel" in frame or "::While" in frame for frame in flight.frames)
    if in_loop or framed or loops:
        return Told(
            cause="infinite-loop",
            why="a loop (WHILE) was still running at the deadline: with these inputs it does not end",
            op=flight.op if in_loop else loops[0] if len(loops) == 1 else OpSeen(type="WHILE"),
        )
    return Told(cause="hang", why="it was still busy at the deadline, and the model has no loop")


def _starved(flight: Flight, worked: set[str]) -> Told:
    more = (Evidence(fact="with more memory it runs", source="trial"),) if "more memory" in worked else ()
    limited = flight.limits.get("memory_bytes") is not None
    if flight.signal == "SIGSEGV":
        return Told(cause="unchecked-allocation", certain=limited, evidence=more)
    killed = flight.ended_by == "memory" or flight.signal == "SIGKILL"
    return Told(cause="out-of-memory", certain=limited or killed or bool(more), evidence=more)


def _refused(flight: Flight, worked: set[str]) -> Told:
    found = translate(flight.error_text)
    if found is None:
        return Told(cause="unknown")
    cause = found.message.cause
    if cause == "delegate-refused" and "without delegates" not in worked:
        cause = "unknown"  # it is not the delegate alone that does not want it
    return Told(
        cause=cause or "unknown",
        certain=found.message.weight >= _PLAIN_WORDS,
        why=found.meaning,
        op=_named_op(found),
        remedies=tuple(Remedy(action=action, tag=Tag.SAME_RESULTS) for action in found.advice),
    )


def _named_op(found: Match) -> OpSeen | None:
    """The operator that the message names; a delegate's own node is none of the model's."""
    kind, node = found.groups.get("op"), found.groups.get("node")
    if not kind or "Delegate" in kind:
        return None
    return OpSeen(type=kind, index=int(node) if node and node.isdigit() else None)


def _divided(flight: Flight) -> Told:
    if flight.op is not None and flight.op.type in _DIVIDERS and flight.stage == "invoke":
        why = "the smallest integer was divided by -1: the result does not fit, and the processor stops"
        return Told(cause="int-min-divided-by-minus-one", why=why)
    if flight.stage == "allocate":
        why = "a size, stride or count of zero was divided by while the model was prepared"
        return Told(cause="option-out-of-range", why=why)
    return Told(cause="zero-size-dimension", why="a size of zero was divided by while the model ran")


def _in_delegate(flight: Flight) -> bool:
    return any(word in frame.lower() for frame in flight.frames for word in _XNNPACK_WORDS)


def _by_values(flight: Flight) -> Told:
    if flight.op is not None and flight.op.type in _SIZED_BY_VALUES:
        why = "an input's values decide the size of the output, and these values are not sane"
        return Told(cause="runtime-shape-from-input", why=why)
    why = "it dies with some values of its inputs and not with others, as when one is used as an index"
    return Told(cause="data-dependent-index", why=why)
