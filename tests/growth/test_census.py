"""Who keeps what: the chain of references is named, whatever kind of keeper it is."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from outlive.growth.growth import Census, Keeper
from outlive.growth.measurement import read_census
from outlive.process.child.leak.census import census, size_of
from outlive.verbs.guard import guarded

SCRIPT = Path(__file__).with_name("leakers.py")
_census = guarded(census)  # one worker for all: the script is imported anew each time


def count(name: str) -> Census:
    """What ten rounds leave behind, after five."""
    target = {"script": str(SCRIPT), "function": name}
    return read_census(_census(target, 5, 10, {"quiet": True}))


def keeper(name: str) -> Keeper:
    found = count(name).keepers
    assert found, "something became more"
    return found[0]


@pytest.mark.parametrize(
    ("name", "kind", "chain"),
    [
        ("python_10_kb", "bytearray", ("global variable kept of leakers",)),
        (
            "kept_by_attribute",
            "numpy.ndarray",
            ("global variable log of leakers", "attribute losses of leakers.Log"),
        ),
        ("kept_by_class", "object", ("global variable Log of leakers", "attribute seen of leakers.Log")),
        ("kept_by_dictionary", "bytes", ("global variable table of leakers",)),
        ("kept_by_default", "str", ("default argument of kept_by_default()",)),
        ("kept_by_cache", "bytes", ("global variable remembered of leakers",)),
        ("kept_by_closure", "numpy.ndarray", ("variable inner in the closure of _make.<locals>.step()",)),
        ("kept_by_generator", "numpy.ndarray", ("variable rows of the generator _rows()",)),
    ],
)
def test_the_chain_leads_to_whoever_keeps_it(name: str, kind: str, chain: tuple[str, ...]) -> None:
    found = keeper(name)
    assert (found.kind, found.kept_by, found.per_round) == (kind, chain, 1.0)


def test_objects_linked_by_hand_are_seen_by_their_type() -> None:
    found = keeper("linked")
    assert (found.kind, found.container) in {("dict", ""), ("list", "")}
    assert found.per_round == pytest.approx(1.0, abs=0.2)
    assert found.kept_by[0].startswith("global variable")


def test_an_object_is_as_large_as_what_it_holds() -> None:
    assert 10_000 <= keeper("python_10_kb").bytes_each <= 10_200
    assert 800 <= keeper("kept_by_attribute").bytes_each <= 1_000


def test_of_many_parts_some_stand_for_all() -> None:
    table = {number: str(number) * 10 for number in range(3000)}
    parts = sum(sys.getsizeof(key) + sys.getsizeof(value) for key, value in table.items())
    assert size_of(table) == pytest.approx(sys.getsizeof(table) + parts, rel=0.05)
    rows = [[float(number) for number in range(300)] for _ in range(300)]
    assert size_of(rows) == pytest.approx(300 * (sys.getsizeof(rows[0]) + 300 * 24), rel=0.05)
    assert size_of(np.zeros(1000)[5:10]) > 8000, "a view keeps the whole array"


def test_addresses_are_plain_and_open_files_are_not() -> None:
    assert keeper("native_untouched").plain
    assert not keeper("descriptor").plain


def test_mappings_are_named() -> None:
    # The heap may grow beside it.
    [size] = [size for name, size in count("mapped_100_kb").mappings if "zero" in name]
    assert size == 102_400


def test_nothing_is_named_where_nothing_grows() -> None:
    found = count("nothing")
    assert (found.keepers, found.descriptors, found.threads) == ((), (), ())
