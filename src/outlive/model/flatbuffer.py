"""Decodes FlatBuffer tables from untrusted bytes.

    bytes ──> FlatBuffer.table(position, "Tensor") ──> {"shape": (1, 8), "type": "FLOAT32", ...}
                    │
                    └──> FlawLog: what was wrong, at which byte; reading goes on without it

Nothing is raised for bad bytes: a field that cannot be read is noted as a flaw and left at its default.
Every position is checked before it is read, and what lies there is brought from the file (`ready`, `need`:
see `file_bytes`; one look at `ready` covers whatever is no longer than a chunk). Work and memory are bounded
by `_BUDGET` times the size of the file, however often a hostile file refers to the same bytes. The format:
FlatBuffers, "Internals".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from struct import Struct, unpack_from
from typing import Any

from outlive.model import schema
from outlive.model.file_bytes import CHUNK, SHIFT, ByteRange, FileBytes
from outlive.model.flaw import Flaw, FlawKind, FlawLog
from outlive.model.schema import SCALARS, Enumeration, Field, Read, Schema

Record = dict[str, Any]

_I32 = Struct("<i").unpack_from
_U32 = Struct("<I").unpack_from
_U16 = Struct("<H").unpack_from
_FLAW_OF_FIELD: dict[tuple[str, str], FlawKind] = {
    ("Tensor", "type"): "unknown-type",
    ("OperatorCode", "builtin_code"): "unknown-operator",
}

# An honest file refers to each byte about once, so one pass over it costs at most its size.
_BUDGET = 4
# Honest files share a few dozen vtables between all their tables; a hostile one may have one for each.
_KEPT_LAYOUTS = 2048


class Overspent(Exception):
    """The file unfolds into far more than its size; reading it stops here."""


@dataclass(frozen=True, slots=True)
class _TableLayout:
    """How tables with one vtable are read: the fields that are present, and where."""

    size: int
    end: int  # of its last field
    names: tuple[str, ...]
    unpack: Callable[[memoryview, int], tuple[Any, ...]]
    enums: tuple[tuple[str, Enumeration, int], ...]
    steps: tuple[tuple[str, Read, int], ...]
    unions: tuple[tuple[str, tuple[str, ...], int, int], ...]
    only: tuple[str, Read, int] | None = None  # the one step of a table with one field, as most buffers are


class TableVector:
    """A vector of tables, decoded one at a time as it is walked."""

    __slots__ = ("_flat", "_owner", "_start", "_table", "count")

    def __init__(self, flat: FlatBuffer, table: str, start: int, count: int, owner: tuple[str, str]) -> None:
        """Remember where the vector's offsets lie; they are known to be inside the file, and are read."""
        self._flat, self._table, self._start, self.count, self._owner = flat, table, start, count, owner

    def __len__(self) -> int:
        """The number of tables."""
        return self.count

    def __iter__(self) -> Iterator[Record]:
        """Each table in turn; flaws found on the way learn which element they belong to."""
        flat, name, owner = self._flat, self._table, self._owner
        flaws, decode, view, last = flat.log.flaws, flat.decoder(name), flat.view, flat.size - 4
        for index in range(self.count):
            before, at = len(flaws), self._start + 4 * index
            target: int | None = at + _U32(view, at)[0]
            if not at < target <= last:  # type: ignore[operator]
                target = flat.follow(at, owner)
            if target is None:
                flat.charge(flat.least(name))  # nothing is not free: it becomes an object like all others
                yield flat.blank(name)
            else:
                yield decode(target)
            if len(flaws) != before:
                flat.log.locate(before, f"{owner[1].rstrip('s').replace('_', ' ')} {index}")


class FlatBuffer:
    """A FlatBuffer of a known schema inside a block of bytes."""

    def __init__(self, file: FileBytes, schema: Schema, log: FlawLog, base: int = 0) -> None:
        """Read from `file`; `base` is where it starts in the whole one, for the bytes that flaws name."""
        file.need(0, min(file.size, 8))  # from now on `view` and `ready` stay the same objects
        self.file, self.view, self.size, self.need = file, file.view, file.size, file.need
        self.schema, self.log, self.base = schema, log, base
        self.left = _BUDGET * self.size + 1024
        self._layouts: dict[str, dict[int, _TableLayout | None]] = {}
        self._decoders: dict[str, Callable[[int], Record]] = {}
        self._blanks: dict[str, Record] = {}
        self._readers: dict[tuple[str, str], Read | None] = {}

    def root(self, name: str) -> Record:
        """The root table."""
        if self.size < 8:
            self.note("past-end", "ends inside its header", (name, ""), 0, reach=8)
            return self.blank(name)
        target = self.follow(0, (name, ""))
        return self.blank(name) if target is None else self.table(target, name)

    def table(self, pos: int, name: str) -> Record:
        """The table at `pos`, every field by name; absent and unreadable ones have their default."""
        return self.decoder(name)(pos)

    def decoder(self, name: str) -> Callable[[int], Record]:
        """The function that decodes tables of this name."""
        if name not in self._decoders:
            self._decoders[name] = self._make_decoder(name)
        return self._decoders[name]

    def _make_decoder(self, name: str) -> Callable[[int], Record]:
        view, size, layouts = self.view, self.size, self._layouts.setdefault(name, {})
        absent, least = self.blank(name), self.least(name)
        ready, need = self.file.ready, self.need
        read_far = schema.far_buffer_reader(self) if name == "Buffer" else None

        def decode(pos: int) -> Record:
            if not ready[pos >> SHIFT]:
                span = read_far(pos, layouts.get) if read_far else None
                if span is not None:
                    self.charge(least)
                    return {**absent, "data": span}
                need(pos, pos + 4)
            layout = layouts.get(pos - _I32(view, pos)[0])
            if layout is None or pos + layout.size > size:
                layout = self._layout(pos, name)  # not seen before, or not sound
            self.left -= layout.size if layout and layout.size > least else least
            if self.left < 0:
                raise Overspent
            record = absent.copy()
            if layout is None:
                return record
            if layout.only is not None:
                key, read, offset = layout.only
                record[key] = read(pos + offset, _U32(view, pos + offset)[0])
                return record
            record.update(zip(layout.names, layout.unpack(view, pos)))  # noqa: B905  as many as it was made for
            for key, read, offset in layout.steps:
                record[key] = read(pos + offset, record[key])
            if layout.enums:
                self._name_enums(record, layout, pos, name)
            if layout.unions:
                self._read_unions(record, layout, pos, name)
            return record

        return decode

    def _name_enums(self, record: Record, layout: _TableLayout, pos: int, name: str) -> None:
        for key, enum, offset in layout.enums:
            known = enum.names.get(record[key])
            if known is not None:
                record[key] = known
                continue
            kind = _FLAW_OF_FIELD.get((name, key), "unknown-value")
            self.note(kind, f"{enum.name} {record[key]}", (name, key), pos + offset)

    def _read_unions(self, record: Record, layout: _TableLayout, pos: int, name: str) -> None:
        for key, members, tag_offset, offset in layout.unions:
            owner, tag = (name, key), f"{key}_type"
            if tag_offset:
                record[tag] = self._member(record[tag], members, owner, pos + tag_offset)
            if offset:
                member = record[tag]
                is_table = member in self.schema.tables
                record[key] = self._nested(member, pos + offset, owner) if is_table else None

    def least(self, name: str) -> int:
        """The least that a table of this name costs: it becomes an object with all its fields."""
        return 16 + 6 * len(self.schema.tables[name])

    def blank(self, name: str) -> Record:
        """A record with every field at its default."""
        if name not in self._blanks:
            self._blanks[name] = {field.name: self._default(field) for field in self.schema.tables[name]}
        return self._blanks[name].copy()

    def bytes_of(self, span: ByteRange | None) -> memoryview | None:
        """The bytes of a span, as a view."""
        return None if span is None else self.file.look(span.start, span.stop)

    def follow(self, at: int, owner: tuple[str, str]) -> int | None:
        """Where the offset stored at `at` leads; None, and a flaw, if that is not in the file."""
        distance: int = _U32(self.view, at)[0]
        target = at + distance
        if distance == 0:
            self.note("malformed", "offset of zero refers to itself", owner, at)
            return None
        if target + 4 > self.size:
            self.note("past-end", f"offset to byte {target + self.base:,}", owner, at, reach=target + 4)
            return None
        return target

    def note(
        self, kind: FlawKind, detail: str, owner: tuple[str, str], at: int, reach: int | None = None
    ) -> None:
        """Record a flaw of a field of a table."""
        reach = None if reach is None else reach + self.base
        self.log.add(
            Flaw(kind=kind, detail=detail, table=owner[0], field=owner[1], byte=at + self.base, reach=reach)
        )

    def charge(self, count: int) -> None:
        """Take the cost of decoding something from what is left; `Overspent` when nothing is."""
        self.left -= count
        if self.left < 0:
            raise Overspent

    def _layout(self, pos: int, name: str) -> _TableLayout | None:
        vtable, layouts = pos - _I32(self.view, pos)[0], self._layouts[name]
        if vtable not in layouts:
            if len(layouts) >= _KEPT_LAYOUTS:
                layouts.clear()
            layouts[vtable] = self._read_vtable(vtable, pos, name)
        layout = layouts[vtable]
        if layout is None:
            return None
        if pos + layout.size > self.size:
            # A verifier looks at the fields only: where these are all there, it is the size that is wrong.
            kind: FlawKind = "past-end" if pos + layout.end > self.size else "malformed"
            detail = f"a table of {layout.size} bytes ends outside the file"
            self.note(kind, detail, (name, ""), pos, reach=pos + layout.size)
            return None
        if layout.size > CHUNK:
            del layouts[vtable]  # so that the next one comes here, too
            self.need(pos, pos + layout.size)
        return layout

    def _read_vtable(self, vtable: int, pos: int, name: str) -> _TableLayout | None:
        if not 0 <= vtable <= self.size - 4:
            detail = f"field list at byte {vtable + self.base:,}"
            kind: FlawKind = "malformed" if vtable < 0 else "past-end"
            self.note(kind, detail, (name, ""), pos, reach=vtable + 4)
            return None
        self.need(vtable, vtable + 4)
        vtable_size, table_size = unpack_from("<HH", self.view, vtable)
        if vtable + vtable_size > self.size:
            detail = f"field list ends at byte {vtable + vtable_size + self.base:,}"
            self.note("past-end", detail, (name, ""), pos, reach=vtable + vtable_size)
            return None
        if vtable_size < 4 or vtable_size % 2 or table_size < 4:
            detail = f"field list of {vtable_size} bytes for fields of {table_size} bytes"
            self.note("malformed", detail, (name, ""), pos)
            return None
        self.need(vtable, vtable + vtable_size)
        present = []
        for slot, field in enumerate(self.schema.tables[name][: vtable_size // 2 - 2]):
            at = vtable + 4 + 2 * slot
            offset = _U16(self.view, at)[0]
            if offset and self._fits(offset, field, table_size, at, name):
                present.append((offset, field))
        return self._make_layout(name, table_size, present)

    def _make_layout(self, name: str, size: int, present: list[tuple[int, Field]]) -> _TableLayout:
        offsets = {field.name: offset for offset, field in present}
        steps, enums, unions = [], [], []
        for offset, field in present:
            read = self._reader(field, name)
            if read is not None:
                steps.append((field.name, read, offset))
            elif field.type in self.schema.enums:
                enums.append((field.name, self.schema.enums[field.type], offset))
            elif field.type.startswith("union-tag "):
                key = field.name.removesuffix("_type")
                members = self.schema.unions[field.type.removeprefix("union-tag ")]
                unions.append((key, members, offset, offsets.get(key, 0)))
            elif field.type.startswith("union ") and f"{field.name}_type" not in offsets:
                unions.append((field.name, (), 0, offset))
        present.sort(key=lambda pair: pair[0])
        names = tuple(field.name for _, field in present)
        only = steps[0] if len(present) == len(steps) == 1 else None
        end = max((offset + field.width for offset, field in present), default=0)
        return _TableLayout(
            size, end, names, schema.unpacker(present), tuple(enums), tuple(steps), tuple(unions), only
        )

    def _fits(self, offset: int, field: Field, table_size: int, at: int, name: str) -> bool:
        if offset >= 4 and offset + field.width <= table_size:
            return True
        detail = f"field at byte {offset} of a table of {table_size} bytes"
        self.note("malformed", detail, (name, field.name), at)
        return False

    def _default(self, field: Field) -> Any:
        if field.type in self.schema.enums:
            return self.schema.enums[field.type].names.get(int(field.default), int(field.default))
        if field.type == "bool":
            return bool(field.default)
        if field.type.startswith("union-tag"):
            return "NONE"
        if field.type.startswith("float"):
            return float(field.default)
        return field.default if field.type in SCALARS else None

    def _reader(self, field: Field, table: str) -> Read | None:
        """The function that reads what this field refers to; None for what stands in the table itself."""
        owner = (table, field.name)
        if owner not in self._readers:
            self._readers[owner] = self._make_reader(field.type, owner)
        return self._readers[owner]

    def _make_reader(self, kind: str, owner: tuple[str, str]) -> Read | None:
        if kind in SCALARS or kind in self.schema.enums or kind.startswith("union"):
            return None
        if kind == "string":
            return schema.string_reader(self, owner)
        if kind == "[uint8]":
            return schema.bytes_reader(self, owner)
        if kind.startswith("[") and kind[1:-1] in SCALARS:
            return schema.number_vector_reader(self, kind[1:-1], owner)
        if kind.startswith("["):
            return lambda at, _: self.vector(kind[1:-1], at, owner)
        return lambda at, _: self._nested(kind, at, owner)

    def _member(self, tag: int, members: tuple[str, ...], owner: tuple[str, str], at: int) -> str:
        if tag < len(members):
            return members[tag]
        self.note("unknown-value", f"union member {tag}", owner, at)
        return f"unknown {tag}"

    def _nested(self, table: str, at: int, owner: tuple[str, str]) -> Record | None:
        target = self.follow(at, owner)
        return None if target is None else self.table(target, table)

    def string(self, at: int, owner: tuple[str, str]) -> str | None:
        """The text that an offset leads to, read the careful way; None, and a flaw, if it leads nowhere."""
        start = self.follow(at, owner)
        return None if start is None else self._decode_string(start, owner)

    def _decode_string(self, start: int, owner: tuple[str, str]) -> str:
        end = self._vector_end(start, 1, owner)
        if end is None:
            return ""
        self.charge(end - start)
        self.need(start, min(end + 1, self.size))
        raw = bytes(self.view[start + 4 : end])
        # A C program reads the name up to its NUL, so a missing one is as bad as a wrong length.
        if end >= self.size:
            self.note("past-end", "string without its zero byte", owner, start, reach=end + 1)
        elif self.view[end] != 0:
            self.note("malformed", "string without its zero byte", owner, start)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            detail = f"byte {error.start} of the text"
            self.note("bad-text", detail, owner, start + 4 + error.start)
            text = raw.decode("utf-8", "backslashreplace")
            self.charge(len(text) - len(raw))
            return text

    def _vector_end(self, start: int, width: int, owner: tuple[str, str]) -> int | None:
        """The end of the vector at `start`, known to be inside the file; None, and a flaw, if it is not."""
        self.need(start, start + 4)
        count = _U32(self.view, start)[0]
        end: int = start + 4 + count * width
        if end > self.size:
            detail = f"{count:,} elements end at byte {end + self.base:,}"
            self.note("past-end", detail, owner, start, reach=end)
            return None
        return end

    def vector(self, kind: str, at: int, owner: tuple[str, str]) -> Any:
        """The vector that an offset leads to, read the careful way; None, and a flaw, if it is not sound."""
        start = self.follow(at, owner)
        if start is None:
            return None
        return self._read_vector(kind, start, owner)

    def _read_vector(self, kind: str, start: int, owner: tuple[str, str]) -> Any:
        enum = self.schema.enums.get(kind)
        scalar = SCALARS.get(enum.scalar if enum else kind)
        width = scalar.size if scalar else 4
        end = self._vector_end(start, width, owner)
        if end is None:
            return None
        if kind == "uint8":
            return ByteRange(start + 4, end)
        count = (end - start - 4) // width
        self.charge(schema.vector_charge(count, width))
        self.need(start, end)
        if kind == "string":
            return tuple(self.string(at, owner) or "" for at in range(start + 4, end, 4))
        if scalar is None:
            return TableVector(self, kind, start + 4, count, owner)
        values = unpack_from(f"<{count}{scalar.format[-1]}", self.view, start + 4)
        return tuple(enum.names.get(value, value) for value in values) if enum else values
