"""Damages models on purpose, from a seed: blind damage of bytes, and damage aimed at the FlatBuffer.

    seed models ──> Mutator(models).mutant(seed) ──> Mutant(data, how)

The same seed gives the same mutant, so a failure is told by its seed and the models it was made from.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tests.properties.structure import Site, SiteKind, find_sites, find_tables

Damage = Callable[["Subject", random.Random], None]

_EXTREMES = {
    1: (0, 1, 0x7F, 0x80, 0xFE, 0xFF),
    2: (0, 1, 2, 3, 4, 5, 6, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF),
    4: (0, 1, 2, 3, 4, 0xFF, 0x10000, 0x1FFFFFFF, 0x3FFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF),
    8: (0, 1, 2, 0x7FFFFFFF, 0xFFFFFFFF, 2**62, 2**63 - 1, 2**63, 2**64 - 1),
}
_RUNS = (
    b"\x00",
    b"\xff",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\x00\x00\x00\x80",
    b"TFL3",
    b"PK\x05\x06",
)


@dataclass(frozen=True)
class Seed:
    """A model to be damaged, with the places that are worth it."""

    data: bytes

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        return find_sites(self.data)

    @cached_property
    def by_kind(self) -> dict[SiteKind, list[Site]]:
        found: dict[SiteKind, list[Site]] = {}
        for site in self.sites:
            found.setdefault(site.kind, []).append(site)
        return found

    @cached_property
    def tables(self) -> tuple[tuple[int, str], ...]:
        return find_tables(self.data)


@dataclass
class Subject:
    """A model while it is being damaged."""

    data: bytearray
    seed: Seed
    donor: Seed

    def put(self, site: Site, value: int) -> None:
        """Overwrite a place with a number, cut to its width."""
        if site.at + site.width <= len(self.data):
            number = value % (1 << 8 * site.width)
            self.data[site.at : site.at + site.width] = number.to_bytes(site.width, "little")

    def get(self, site: Site) -> int:
        return int.from_bytes(self.data[site.at : site.at + site.width], "little")

    def site(self, rng: random.Random, *kinds: SiteKind) -> Site | None:
        """One place of these kinds; kinds are equally likely, however many places each has."""
        present = [kind for kind in kinds if self.seed.by_kind.get(kind)]
        return rng.choice(self.seed.by_kind[rng.choice(present)]) if present else None


@dataclass(frozen=True)
class Mutant:
    """A damaged model, and what was done to it."""

    data: bytes
    how: tuple[str, ...]


class Mutator:
    """Makes mutants of some models; which one, and how, follows from the seed alone."""

    def __init__(self, models: Sequence[bytes]) -> None:
        self.seeds = tuple(Seed(data) for data in models)

    def mutant(self, seed: int) -> Mutant:
        rng = random.Random(seed)
        chosen = rng.choice(self.seeds)
        subject = Subject(bytearray(chosen.data), chosen, rng.choice(self.seeds))
        how = []
        for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
            damage = rng.choice(_AIMED if rng.random() < 0.75 else _BLIND)
            damage(subject, rng)
            how.append(damage.__name__)
        if rng.random() < 0.9 and len(subject.data) >= 8:
            subject.data[4:8] = b"TFL3"  # without it no reader looks any further
        return Mutant(bytes(subject.data), tuple(how))

    def impostor(self, seed: int) -> Mutant:
        """A file whose layout is sound, and whose numbers lie: shapes, options, indices, types."""
        rng = random.Random(seed)
        chosen = rng.choice(self.seeds)
        subject = Subject(bytearray(chosen.data), chosen, chosen)
        count = rng.choice((1, 1, 2, 3, 8))
        for _ in range(count):
            set_value(subject, rng)
        return Mutant(bytes(subject.data), (set_value.__name__,) * count)


def flip_bits(subject: Subject, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        if subject.data:
            subject.data[rng.randrange(len(subject.data))] ^= 1 << rng.randrange(8)


def fill_run(subject: Subject, rng: random.Random) -> None:
    start = rng.randrange(len(subject.data) + 1)
    pattern = rng.choice(_RUNS)
    room = len(subject.data) - start
    length = min(len(pattern) * rng.choice((1, 2, 4, 16, 256)), room)
    subject.data[start : start + length] = (pattern * (length // len(pattern) + 1))[:length]


def truncate(subject: Subject, rng: random.Random) -> None:
    del subject.data[rng.randrange(len(subject.data) + 1) :]


def cut_tail(subject: Subject, rng: random.Random) -> None:
    del subject.data[-rng.randrange(1, 64) :]


def splice(subject: Subject, rng: random.Random) -> None:
    other = subject.donor.data
    start, at = rng.randrange(len(other) + 1), rng.randrange(len(subject.data) + 1)
    block = other[start : start + rng.choice((4, 16, 64, 1024, len(other)))]
    stop = at + (len(block) if rng.random() < 0.7 else 0)
    subject.data[at:stop] = block


def double_block(subject: Subject, rng: random.Random) -> None:
    start, at = rng.randrange(len(subject.data) + 1), rng.randrange(len(subject.data) + 1)
    subject.data[at:at] = subject.data[start : start + rng.choice((4, 8, 64, 4096))]


def remove_block(subject: Subject, rng: random.Random) -> None:
    start = rng.randrange(len(subject.data) + 1)
    del subject.data[start : start + rng.choice((1, 2, 4, 16, 256))]


def set_extreme(subject: Subject, rng: random.Random) -> None:
    site = subject.site(rng, "offset", "length", "vtable-offset", "slot", "tag", "scalar", "element")
    if site:
        subject.put(site, rng.choice(_EXTREMES[site.width]))


def set_value(subject: Subject, rng: random.Random) -> None:
    """A number that is no offset and no length becomes large, small, negative, or a little different."""
    site = subject.site(rng, "scalar", "element")
    if site:
        large = 1 << rng.randrange(8 * site.width)
        near = subject.get(site) + rng.choice((-2, -1, 1, 2))
        subject.put(site, rng.choice((*_EXTREMES[site.width], large, large, near, near, near)))


def nudge(subject: Subject, rng: random.Random) -> None:
    site = subject.site(
        rng, "offset", "length", "vtable-offset", "vtable-size", "table-size", "slot", "scalar"
    )
    if site:
        subject.put(site, subject.get(site) + rng.choice((-8, -4, -2, -1, 1, 2, 3, 4, 8, 64)))


def point_to_other(subject: Subject, rng: random.Random) -> None:
    """Type confusion: an offset leads to some other table, vector or field list."""
    site = subject.site(rng, "offset")
    target = subject.site(rng, "length", "vtable-offset", "vtable-size", "offset", "scalar")
    if site and target:
        subject.put(site, target.at - site.at)


def point_at_edge(subject: Subject, rng: random.Random) -> None:
    """An offset leads to itself, before the start, or to the last bytes."""
    site = subject.site(rng, "offset")
    if site:
        last = len(subject.data) - rng.randrange(12)
        subject.put(site, rng.choice((site.at, site.at - 4, 0, -4, last)) - site.at)


def move_field_list(subject: Subject, rng: random.Random) -> None:
    """A table takes its field list from another table, from nowhere, or from its own bytes."""
    site = subject.site(rng, "vtable-offset")
    other = subject.site(rng, "vtable-size", "length", "scalar")
    if site and other:
        subject.put(site, site.at - rng.choice((other.at, site.at, 0, len(subject.data) - 4, -8)))


def stretch_field_list(subject: Subject, rng: random.Random) -> None:
    site = subject.site(rng, "vtable-size", "table-size")
    if site:
        subject.put(site, rng.choice((0, 2, 3, 4, 5, 6, 8, 32, 64, 0x7FFE, 0xFFFE, 0xFFFF)))


def scatter_slots(subject: Subject, rng: random.Random) -> None:
    """Several fields of tables lie elsewhere, or where another field is."""
    for _ in range(rng.choice((1, 2, 8))):
        site, other = subject.site(rng, "slot"), subject.site(rng, "slot")
        if site and other:
            subject.put(site, rng.choice((subject.get(other), rng.randrange(64), 0, 4, 0xFFFC)))


def change_tag(subject: Subject, rng: random.Random) -> None:
    site = subject.site(rng, "tag")
    if site:
        subject.put(site, rng.randrange(256))


def lengthen_to_end(subject: Subject, rng: random.Random) -> None:
    """A vector or name claims all the rest of the file, give or take a little."""
    site = subject.site(rng, "length")
    if site:
        room = len(subject.data) - site.at - 4
        subject.put(site, room // rng.choice((1, 2, 4, 8)) + rng.choice((-1, 0, 0, 0, 1)))


def share_everything(subject: Subject, rng: random.Random) -> None:
    """A bomb: every offset of one kind leads to one and the same target, with a long vector there."""
    owner = rng.choice(subject.seed.sites).owner if subject.seed.sites else ""
    sites = [site for site in subject.seed.by_kind.get("offset", ()) if site.owner == owner]
    if sites:
        target = sites[-1].at + subject.get(sites[-1])
        for site in sites:
            subject.put(site, target - site.at)


def grow_shared_vector(subject: Subject, rng: random.Random) -> None:
    """A bomb: a vector of very many offsets to one table, put at the end, and fields that lead to it."""
    if not subject.seed.tables or len(subject.data) % 4:
        return
    start = len(subject.data)
    count = rng.choice((16, 256, 2048))
    # Offsets only lead forward, so the table they share is a copy behind them, without its own fields.
    table = start + 4 + 4 * count
    offsets = (table - (start + 4 + 4 * index) for index in range(count))
    lie = rng.choice((0, 4, 0x7FFFFFFF))
    entries = [lie if rng.random() < 0.1 else offset for offset in offsets]
    vtable = struct.pack("<HH", 4, 4)
    subject.data += struct.pack(f"<I{count}I", count, *entries) + struct.pack("<i", -4) + vtable
    for _ in range(rng.choice((1, 4, 32))):
        site = subject.site(rng, "offset")
        if site:
            subject.put(site, start - site.at)


def append_archive(subject: Subject, rng: random.Random) -> None:
    """The end of a zip archive whose directory lies."""
    size, offset = (rng.choice((0, 46, 1024, 0x7FFFFFFF, 0xFFFFFFFF)) for _ in range(2))
    entries = rng.choice((0, 1, 0xFFFF))
    subject.data += struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, entries, entries, size, offset, 0)


_BLIND: tuple[Damage, ...] = (flip_bits, fill_run, truncate, cut_tail, splice, double_block, remove_block)
_AIMED: tuple[Damage, ...] = (
    set_extreme, set_extreme, nudge, point_to_other, point_to_other, point_at_edge, move_field_list,
    stretch_field_list, scatter_slots, change_tag, lengthen_to_end, share_everything, grow_shared_vector,
    append_archive,
)  # fmt: skip
