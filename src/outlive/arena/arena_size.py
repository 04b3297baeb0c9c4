"""The arena to set aside on a microcontroller: what was planned, room for resource variables, a margin."""

from __future__ import annotations

from dataclasses import dataclass, field

from outlive.arena.plan import Plan
from outlive.model import Model
from outlive.records import NOT_WRITTEN, in_document
from outlive.units import parse_bytes, plural

_ALIGNMENT_BYTES = 16
# What is added to a plan: a twentieth where every byte was worked out, a quarter where something was guessed.
_EXACT_SHARE, _GUESSED_SHARE = 0.05, 0.25
_LEAST_MARGIN_BYTES = 256
# sizeof(MicroResourceVariables) and of an entry: tensorflow/lite/micro/micro_resource_variable.h
_VARIABLE_BYTES = {"host64": (16, 40)}
_VARIABLE_BYTES_32 = (12, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaSize:
    """The size of the arena, and what it is made of."""

    planned_bytes: int
    variables: int = field(metadata=NOT_WRITTEN)
    variable_bytes: int
    margin_bytes: int
    margin_words: str = field(metadata=NOT_WRITTEN)

    @property
    def needed_bytes(self) -> int:
        """All but the margin."""
        return self.planned_bytes + self.variable_bytes

    @property
    @in_document("arena_bytes")
    def bytes(self) -> int:
        """All of it."""
        return self.needed_bytes + self.margin_bytes


def arena_for(model: Model, plan: Plan, abi: str = "cortex-m", margin: str | None = None) -> ArenaSize | None:
    """The arena that a plan for TensorFlow Lite Micro asks for; None if that refuses the model.

    `margin` is a share such as "10%" or a size such as "2KB". ValueError for what is neither.
    """
    if plan.min_arena_bytes is None:
        return None
    variables = len(_resource_names(model))
    room = 0
    if variables:
        kept, each = _VARIABLE_BYTES.get(abi, _VARIABLE_BYTES_32)
        room = _aligned(kept) + _aligned(each * variables) + _ALIGNMENT_BYTES
    size, words = _margin(plan.min_arena_bytes, plan.exact, margin)
    return ArenaSize(
        planned_bytes=_aligned(plan.min_arena_bytes),
        variables=variables,
        variable_bytes=room,
        margin_bytes=_aligned(size),
        margin_words=words,
    )


def _resource_names(model: Model) -> set[tuple[object, object]]:
    handles = [op.options for op in model.operators() if op.type == "VAR_HANDLE"]
    return {
        (options.get("container"), options.get("shared_name")) if options is not None else (None, None)
        for options in handles
    }


def _margin(planned: int, exact: bool, wanted: str | None) -> tuple[int, str]:
    if wanted is None:
        share = _EXACT_SHARE if exact else _GUESSED_SHARE
        why = "for another version or build" if exact else "because something was guessed"
        least = plural(_LEAST_MARGIN_BYTES, "byte")
        return max(int(planned * share), _LEAST_MARGIN_BYTES), f"{share:.0%}, at least {least}, {why}"
    if wanted.endswith("%"):
        try:
            share = float(wanted[:-1]) / 100
        except ValueError:
            share = -1.0
        if not 0 <= share <= 10:
            raise ValueError(f"{wanted[:40]!r} is no margin; write 10% or 2KB")
        return int(planned * share), f"{wanted}, as asked for"
    return parse_bytes(wanted), "as asked for"


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
