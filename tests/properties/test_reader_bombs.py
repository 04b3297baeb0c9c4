"""A small file cannot make the reader use much memory or time, however cleverly it refers to itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import outlive
from outlive.model import flatbuffer as flat
from outlive.model import read_source
from tests.properties import extras_bombs, graph_bombs
from tests.properties.assembly import Assembly
from tests.properties.specimens import plain_model
from tests.properties.trial import allowed_bytes, measure, try_apart

BOMBS = {**graph_bombs.BOMBS, **extras_bombs.BOMBS}
BOMB_BYTES = 64_000
# Work that Python does inside one call shows only by the time it takes, so these need to be great.
GREAT_BOMB_BYTES = {"many_inputs": 1_000_000, "many_dims": 2_000_000}
# Function calls for each byte of the file: a table costs up to a hundred or so, and takes many bytes.
CALLS_PER_BYTE = 30
CALLS_AT_START = 50_000
# An honest reader needs a second or two; one that unfolds the bombs, hours.
TIMEOUT_S = 300.0
CLAIMS = (
    "subgraphs", "tensors", "operators", "buffers", "dims", "codes", "signatures", "metadata", "inputs",
    "name", "description",
)  # fmt: skip


def calls_of(work: Callable[[bytes], object], data: bytes) -> int:
    """How many functions, ours and Python's own, are called during the work."""
    count = 0

    def tell(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tell)
    try:
        work(data)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_stays_small(name: str, tmp_path: Path) -> None:
    size = GREAT_BOMB_BYTES.get(name, BOMB_BYTES)
    bomb = BOMBS[name](size)
    assert size / 2 < len(bomb) < size * 2
    cost = try_apart(bomb, tmp_path, timeout_s=TIMEOUT_S)
    assert cost.peak_bytes <= allowed_bytes(bomb), (
        f"{cost.peak_bytes / len(bomb):.0f} bytes for each of the file's"
    )


@pytest.mark.parametrize("name", BOMBS)
def test_the_work_for_a_bomb_grows_with_its_size_only(name: str) -> None:
    bomb = BOMBS[name](16_000)
    assert calls_of(read_source, bomb) <= CALLS_PER_BYTE * len(bomb) + CALLS_AT_START


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_of_four_times_the_size_takes_about_four_times_the_work(name: str) -> None:
    outlive.check(BOMBS[name](8_000))  # what is loaded on first use does not count
    few, many = (calls_of(outlive.check, BOMBS[name](size)) for size in (8_000, 32_000))
    assert many <= 6 * few + 10_000


@pytest.mark.parametrize("what", CLAIMS)
@pytest.mark.parametrize("count", [2**31 - 1, 2**31, 2**32 - 1])
def test_two_billion_claimed_things_cost_nothing(what: str, count: int) -> None:
    data = graph_bombs.claims(what, count)
    reading, peak_bytes = measure(data)
    assert peak_bytes < 100_000
    assert "past-end" in {flaw.kind for flaw in reading.flaws}
    assert calls_of(read_source, data) < 5_000


def test_an_honest_model_is_no_bomb() -> None:
    data = plain_model()
    reading, peak_bytes = measure(data)
    assert reading.model is not None
    assert not reading.flaws
    assert peak_bytes <= allowed_bytes(data)


def test_without_its_budget_the_reader_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof that the tests above can fail."""
    bomb = graph_bombs.shared_subgraphs(2_000)
    assert measure(bomb)[1] <= allowed_bytes(bomb)
    assert calls_of(read_source, bomb) <= CALLS_PER_BYTE * len(bomb) + CALLS_AT_START
    monkeypatch.setattr(flat, "_BUDGET", 10**9)
    assert measure(bomb)[1] > 3 * allowed_bytes(bomb)
    assert calls_of(read_source, bomb) > 3 * (CALLS_PER_BYTE * len(bomb) + CALLS_AT_START)


def test_the_bombs_are_what_they_say() -> None:
    """Bombs that the reader refuses for another flaw would test nothing."""
    kinds = {name: {flaw.kind for flaw in read_source(bomb(16_000)).flaws} for name, bomb in BOMBS.items()}
    for name in ("shared_subgraphs", "shared_tensor", "shared_operator", "many_inputs", "shared_buffers"):
        assert "overlap" in kinds[name]
    assert "malformed" not in kinds["shared_subgraphs"] | kinds["overlapping_vectors"]


def test_many_mild_flaws_do_not_hide_a_grave_one() -> None:
    """A reading keeps a few hundred flaws; that it was given up must be among them."""
    bomb = extras_bombs.mild_operators(40_000)
    reading = read_source(bomb)
    assert reading.model is None
    assert {flaw.kind for flaw in reading.flaws} >= {"unknown-value", "overlap"}
    with pytest.raises(outlive.ModelError):
        outlive.read(bomb)


def test_the_assembly_makes_models_that_can_be_read() -> None:
    file = Assembly()
    file.table("Model", "root", version=3, description="text", subgraphs="graphs", buffers="none")
    file.vector("graphs", ["graph"])
    file.table("SubGraph", "graph", tensors="tensors")
    file.vector("tensors", ["tensor"])
    file.table("Tensor", "tensor", shape="shape")
    file.vector("shape", [2, 3])
    file.vector("none", [])
    file.raw("text", b"\x02\0\0\0hi\0")
    reading = read_source(file.finish())
    assert reading.model is not None
    assert not reading.flaws
    assert reading.model.description == "hi"
    assert next(reading.model.tensors()).shape == (2, 3)
