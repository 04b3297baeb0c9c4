"""FlatBuffers from slots and values alone, for the ones inside metadata: no schema of ours is involved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flatbuffers import Builder


class Scalar(NamedTuple):
    """A number of a type the builder knows: `Int8`, `Uint32`, `Float32`, ..."""

    kind: str
    value: float


class Numbers(NamedTuple):
    """A vector of such numbers."""

    kind: str
    width: int
    values: Sequence[float]


Value = str | Scalar | Numbers | Mapping[int, Any] | Sequence[Any]
Slots = Mapping[int, Value]


def flatbuffer(root: Slots, identifier: bytes | None = None) -> bytes:
    """The bytes of a root table; its fields are given by their slots."""
    builder = Builder(1024)
    builder.ForceDefaults(True)  # a zero that is given is written
    builder.Finish(_table(builder, root), file_identifier=identifier)
    return bytes(builder.Output())


def _table(builder: Builder, slots: Slots) -> int:
    ready = {slot: _value(builder, value) for slot, value in slots.items() if not isinstance(value, Scalar)}
    builder.StartObject(max(slots, default=-1) + 1)
    for slot, offset in ready.items():
        builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    for slot, value in slots.items():
        if isinstance(value, Scalar):
            getattr(builder, f"Prepend{value.kind}Slot")(slot, value.value, 0)
    return int(builder.EndObject())


def _value(builder: Builder, value: Value) -> int:
    if isinstance(value, str):
        return int(builder.CreateString(value))
    if isinstance(value, Mapping):
        return _table(builder, value)
    if isinstance(value, Numbers):
        builder.StartVector(value.width, len(value.values), value.width)
        for number in reversed(value.values):
            getattr(builder, f"Prepend{value.kind}")(number)
        return int(builder.EndVector())
    items: Sequence[Any] = value
    offsets = [_value(builder, item) for item in items]
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())
