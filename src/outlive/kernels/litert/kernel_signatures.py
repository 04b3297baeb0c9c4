"""What LiteRT's kernels demand of each operator, read from `tables/litert_signatures.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from outlive.kernels.tables import read_table

_TABLE = "litert_signatures"
Range = tuple[int, int]
# The types a slot may have, for each type of the slot it follows.
Following = tuple[str, Mapping[str, frozenset[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSignature:
    """The demands on one operator. Slots are named `i0` (input 0), `o1` (output 1), `i*` (all inputs)."""

    inputs: Range
    outputs: Range
    optional: frozenset[int]
    types: Mapping[str, frozenset[str]]
    follows: Mapping[str, Following]
    same: tuple[tuple[str, ...], ...]
    ranks: Mapping[str, Range]
    versions: Range


@cache
def signatures() -> Mapping[str, KernelSignature]:
    """The demands of all operators that LiteRT's own resolver has a kernel for, by name."""
    document = read_table(_TABLE)
    letters: dict[str, str] = document["letters"]
    return {name: _signature(entry, letters) for name, entry in document["operators"].items()}


def runtime_version() -> str:
    """The runtime whose kernels these are."""
    return str(read_table(_TABLE)["matches"])


def has_kernel(kind: str, version: int) -> bool:
    """True if the runtime has a kernel for this builtin operator, in this version."""
    known = signatures().get(kind)
    return known is not None and known.versions[0] <= version <= known.versions[1]


def _signature(entry: dict[str, Any], letters: dict[str, str]) -> KernelSignature:
    def types(word: str) -> frozenset[str]:
        return frozenset(letters[letter] for letter in word)

    def following(rule: dict[str, str]) -> Following:
        allowed = {letters[letter]: types(word) for letter, word in rule.items() if letter != "of"}
        return rule["of"], allowed

    return KernelSignature(
        inputs=_range(entry["in"]),
        outputs=_range(entry["out"]),
        optional=frozenset(entry.get("optional", ())),
        types={slot: types(word) for slot, word in entry.get("types", {}).items()},
        follows={slot: following(rule) for slot, rule in entry.get("follows", {}).items()},
        same=tuple(tuple(group) for group in entry.get("same", ())),
        ranks={slot: _range(pair) for slot, pair in entry.get("ranks", {}).items()},
        versions=_range(entry["versions"]),
    )


def _range(pair: list[int]) -> Range:
    return pair[0], pair[1]
