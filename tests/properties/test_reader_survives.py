"""Whatever the bytes, reading ends in a Reading, and nothing in it bites the program that looks at it."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import outlive
from outlive.model import read_source
from outlive.surgery import write
from tests.properties.mutations import Mutator
from tests.properties.specimens import busy_model, plain_model, specimens, text_model
from tests.properties.structure import find_sites
from tests.properties.visiting import read_everything, say_json, say_text
from tests.repetition import repeats, rounds

pytestmark = repeats

MUTANTS, SAID_MUTANTS, DRAWN_MUTANTS = rounds(500, soak=10_000), rounds(100, soak=1000), 30
CHECKED_MUTANTS = rounds(300, soak=5000)
BATCH = 100
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@cache
def mutator() -> Mutator:
    return Mutator(specimens())


def describe(seed: int) -> str:
    return f"mutant {seed}: {', '.join(mutator().mutant(seed).how)}"


@pytest.mark.parametrize("start", range(0, MUTANTS, BATCH))
def test_a_damaged_model_is_read_or_refused(start: int) -> None:
    for seed in range(start, start + BATCH):
        try:
            read_everything(mutator().mutant(seed).data)
        except Exception as error:
            pytest.fail(f"{describe(seed)}: {error!r}")


@pytest.mark.parametrize("start", range(0, SAID_MUTANTS, BATCH))
def test_what_is_said_of_a_damaged_model_is_valid_json(start: int) -> None:
    for seed in range(start, start + BATCH):
        data = mutator().mutant(seed).data
        try:
            say_json(data, read_source(data))
        except Exception as error:
            pytest.fail(f"{describe(seed)}: {error!r}")


def test_a_damaged_model_can_be_drawn() -> None:
    for seed in range(DRAWN_MUTANTS):
        data = mutator().mutant(seed).data
        try:
            say_text(data, read_source(data))
        except Exception as error:
            pytest.fail(f"{describe(seed)}: {error!r}")


@pytest.mark.parametrize("start", range(0, CHECKED_MUTANTS, BATCH))
def test_no_rule_fails_on_a_damaged_model(start: int) -> None:
    for seed in range(start, start + BATCH):
        failed = [
            item for item in outlive.check(mutator().mutant(seed).data).not_checked if "failed" in item.reason
        ]
        assert failed == [], describe(seed)


def test_the_damage_is_worth_the_name() -> None:
    """A mutator that changes nothing, or leaves nothing, would make the tests above pass for nothing."""
    readings = [read_source(mutator().mutant(seed).data) for seed in range(300)]
    kinds = {flaw.kind for reading in readings for flaw in reading.flaws}
    models = sum(reading.model is not None for reading in readings)
    assert 100 < models < 299
    assert kinds >= {"past-end", "malformed", "missing", "dangling-index", "unknown-value", "bad-metadata"}
    assert len({mutator().mutant(seed).data for seed in range(300)}) > 290
    assert mutator().mutant(7) == mutator().mutant(7)


def test_the_specimens_are_healthy() -> None:
    for data in specimens()[1:]:
        reading = read_everything(data)
        assert reading.model is not None
        assert not reading.flaws
        assert len(find_sites(data)) > 100


@pytest.mark.parametrize("model", [plain_model(), busy_model()], ids=["plain", "busy"])
def test_a_model_cut_short_at_any_byte_is_read_or_refused(model: bytes) -> None:
    for length in range(0, len(model), 1 if len(model) < 1000 else 7):
        read_everything(model[:length])


def test_a_model_with_any_byte_set_to_an_extreme_is_read_or_refused() -> None:
    model = plain_model()
    for at in range(len(model)):
        for value in (0x00, 0x7F, 0xFF):
            read_everything(model[:at] + bytes([value]) + model[at + 1 :])


@_PATIENT
@given(st.binary(max_size=600))
def test_bytes_that_nobody_made_are_read_or_refused(data: bytes) -> None:
    read_everything(data)
    read_everything(data[:4] + b"TFL3" + data[8:])


@_PATIENT
@given(data=st.data())
def test_any_places_of_a_model_may_hold_any_number(data: st.DataObject) -> None:
    """What random seeds do not find, Hypothesis may, and makes it small."""
    seed = data.draw(st.sampled_from(mutator().seeds[:4]))
    changed = bytearray(seed.data)
    for _ in range(data.draw(st.integers(1, 6))):
        site = data.draw(st.sampled_from(seed.sites))
        number = data.draw(st.integers(0, 2 ** (8 * site.width) - 1))
        changed[site.at : site.at + site.width] = number.to_bytes(site.width, "little")
    read_everything(bytes(changed))


@_PATIENT
@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=80), st.integers(0, 30), st.binary(max_size=64))
def test_any_shape_type_and_data_of_a_constant(shape: list[int], dtype: int, value: bytes) -> None:
    tensor = {"name": "t", "shape": shape, "type": dtype, "buffer": 1}
    tree = {"version": 3, "subgraphs": [{"tensors": [tensor]}], "buffers": [{}, {"data": value}]}
    model = write(tree)
    reading = read_everything(model)
    say_json(model, reading)


@pytest.mark.parametrize("shape", [[2**31 - 1] * 40, [2**31 - 1] * 2000, [1] * 70, [0] + [2**31 - 1] * 6])
def test_shapes_that_no_array_can_have(shape: list[int]) -> None:
    tensor = {"name": "t", "shape": shape, "buffer": 1}
    data = write({"version": 3, "subgraphs": [{"tensors": [tensor]}], "buffers": [{}, {"data": bytes(4)}]})
    reading = read_everything(data)
    say_json(data, reading)
    assert reading.model is not None
    with pytest.raises(LookupError):
        next(reading.model.tensors()).array()


STRANGE_NAMES = {
    "control characters": "".join(map(chr, range(1, 32))) + "\x7f\x9b",
    "escape codes": "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "right to left": "\u202egnp.exe\u2066\u200f\ufeff",
    "markup": "[red]r[/red] [link=http://x]y[/link] {0} %s",
    "lines": "one\ntwo\r\nthree\u2028four",
    "wide": "\U0001f600\U0010ffff\u0000",
    "a million": "n" * 1_000_000,
}


@pytest.mark.parametrize("name", STRANGE_NAMES.values(), ids=STRANGE_NAMES.keys())
def test_strange_names_are_read_as_they_are(name: str) -> None:
    data = text_model(name.encode())
    model = outlive.read(data)
    signature = model.signatures[0]
    found = [model.description, model.subgraphs[0].name, model.operator_codes[0].custom_name, signature.key,
             signature.inputs[0][0], signature.outputs[0][0],
             *(tensor.name for tensor in model.tensors())]  # fmt: skip
    assert found == [name] * len(found)
    reading = read_everything(data)
    say_json(data, reading)
    say_text(data, reading)


def test_a_model_without_graphs_and_with_a_mild_flaw_is_refused() -> None:
    data = write({"version": 3, "description": b"\xff"})
    read_everything(data)
    with pytest.raises(outlive.ModelError):
        outlive.read(data)


def test_names_that_are_no_text_are_kept_apart() -> None:
    first = read_source(text_model(b"\xff\xfe")).model
    second = read_source(text_model(b"\xff\xfd")).model
    assert first is not None
    assert second is not None
    assert first.description != second.description


def test_a_pointer_with_a_size_that_is_no_number() -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize {}\n"
    for size in ("²", "٣", "-1", "1e9", "", "9" * 4000):
        reading = read_everything(pointer.format(size).encode())
        assert reading.identity.kind == "git-lfs-pointer"
