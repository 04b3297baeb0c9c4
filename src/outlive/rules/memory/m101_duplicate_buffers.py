"""Duplicate constants

What it checks
    No two constant buffers of at least 256 bytes are equal.

Why it matters
    Each copy costs its size in the file and, once the runtime packs weights, again in memory.

What to do
    Let all tensors refer to one buffer. Converters that deduplicate constants do this.

Limits
    Copies below 256 bytes are not reported. Equal values in another type or layout are not detected.
"""

from collections import defaultdict
from collections.abc import Iterable

from outlive.model import Buffer, Model
from outlive.rules.api import Iterator, Remedy, Severity, Sightings, Tag, rule
from outlive.rules.wording import command, sight_file
from outlive.units import format_bytes, plural

_MIN_BYTES = 256
_PROBE_BYTES = 512


@rule("M101", "duplicate-buffers", Severity.NOTE, since="0.1")
def duplicate_buffers(model: Model) -> Sightings:
    groups = list(_groups(buffer for buffer in model.buffers if buffer.size_bytes >= _MIN_BYTES))
    if not groups:
        return
    groups.sort(key=lambda group: group[0].size_bytes * (1 - len(group)))
    saved = sum(group[0].size_bytes * (len(group) - 1) for group in groups)
    why = f"{plural(len(groups), 'constant')} stored {sum(map(len, groups))} times in total"
    effect = f"saves {format_bytes(saved)} of the file"
    fix = command("outlive check --fix", model.path)
    remove = Remedy("store the constant once", Tag.SAME_RESULTS, effect=effect, command=fix)
    again = Remedy("share one buffer between tensors with equal values", Tag.SAME_RESULTS)
    facts = (_describe(group, model) for group in groups[:5])
    yield sight_file(model.path, facts, "buffer contents compared", why, remove, again)


def _describe(group: list[Buffer], model: Model) -> str:
    names = ", ".join(str(buffer.index) for buffer in group[:6]) + (", ..." if len(group) > 6 else "")
    indices = {buffer.index for buffer in group}
    user = next((tensor.name for tensor in model.tensors() if tensor.buffer_index in indices), "")
    what = f' (first used by "{user}")' if user else ""
    return f"{len(group)} copies of {format_bytes(group[0].size_bytes)}: buffers {names}{what}"


def _groups(buffers: Iterable[Buffer]) -> Iterator[list[Buffer]]:
    """Sets of equal buffers; bytes are read only where size, start and end agree already."""
    alike = defaultdict(list)
    for buffer in _apart(buffers):
        size = buffer.size_bytes
        ends = bytes(buffer.part(0, _PROBE_BYTES)), bytes(buffer.part(max(0, size - _PROBE_BYTES), size))
        alike[buffer.size_bytes, hash(ends)].append(buffer)
    for candidates in alike.values():
        if len(candidates) > 1:
            yield from _equal(candidates)


def _apart(buffers: Iterable[Buffer]) -> Iterator[Buffer]:
    """Buffers that share no byte: references to the same place in the file are one copy, not two."""
    end = -1
    for buffer in sorted(buffers, key=lambda buffer: buffer.offset or 0):
        if buffer.has_data and (buffer.offset or 0) >= end:
            end = (buffer.offset or 0) + buffer.size_bytes
            yield buffer


def _equal(candidates: list[Buffer]) -> Iterator[list[Buffer]]:
    by_digest: dict[bytes, list[Buffer]] = defaultdict(list)
    for buffer in candidates:
        by_digest[buffer.digest()].append(buffer)
    yield from (group for group in by_digest.values() if len(group) > 1)
