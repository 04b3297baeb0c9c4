"""Waste goes, results stay: what is trimmed, what is left alone, and that nobody can tell by the outputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.interpreter.feeds import make_feeds
from outlive.surgery import Trimmed, tree_of, trim, write
from tests.interpreter import dropin_models
from tests.surgery import cut_models, trim_models

BUILTIN = {"experimental_op_resolver_type": outlive.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES}
SETTINGS: tuple[dict[str, Any], ...] = ({}, BUILTIN)
WASTE = ("M101", "M102", "M103", "M104", "M105")


def trimmed(source: Any) -> Trimmed:
    return trim(outlive.read(source))


def results(source: bytes, feeds: list[Any] | None = None, **settings: Any) -> tuple[list[Any], list[Any]]:
    """What was fed, in the model's order, and what came out; the last of two runs."""
    with outlive.Interpreter(model_content=source, **settings) as interpreter:
        interpreter.allocate_tensors()
        rows = interpreter.get_input_details()
        if feeds is None:
            made = make_feeds(rows, None, 3)
            feeds = [made[row["index"]] for row in rows]
        for row, value in zip(rows, feeds, strict=True):
            interpreter.set_tensor(row["index"], value)
        interpreter.invoke()
        interpreter.invoke()
        return feeds, [interpreter.get_tensor(row["index"]) for row in interpreter.get_output_details()]


def same_results(before: bytes, after: bytes) -> None:
    for settings in SETTINGS:
        feeds, expected = results(before, **settings)
        _, seen = results(after, feeds, **settings)
        assert [value.tobytes() for value in seen] == [value.tobytes() for value in expected]


@pytest.mark.parametrize(
    ("build", "words", "ops"),
    [
        (trim_models.dead, "2 unused operators: 1 ADD, 2 ABS", 1),
        (trim_models.repeated, "1 copy of constants: 64 B", 2),
        (trim_models.repeated, "1 unused constant: 200 B", 2),
        (trim_models.copying, "3 operators that only copied: 0 RESHAPE, 1 TRANSPOSE, 2 PAD", 1),
        (trim_models.requantized, "1 operator that only copied: 1 QUANTIZE", 1),
        (trim_models.cluttered, "2 unused tensors", 1),
        (trim_models.cluttered, "1 subgraph that nothing calls", 1),
        (trim_models.cluttered, "2 empty buffers", 1),
        (trim_models.cluttered, "3 unused operator codes", 1),
        (trim_models.debugged, "places in the source, kept for debugging: 520 B", 1),
        (trim_models.signed, "1 subgraph that nothing calls", 1),
    ],
)
def test_waste_goes_and_results_stay(build: Callable[[], bytes], words: str, ops: int) -> None:
    before = build()
    found = trimmed(before)
    assert words in found.removed
    assert found.saved_bytes == len(before) - len(found.data) > 0
    after = outlive.read(found.data)
    assert not after.flaws
    assert len(after.subgraphs[0].operators) == ops
    same_results(before, found.data)


@pytest.mark.parametrize(
    "build",
    [trim_models.not_copying, trim_models.quantized_twins, lambda: trim_models.requantized(scale=[0.25])],
)
def test_what_only_looks_like_waste_stays(build: Callable[[], bytes]) -> None:
    before = build()
    found = trimmed(before)
    assert (found.data, found.saved_bytes, found.removed) == (before, 0, ())


def test_what_a_file_numbers_keeps_its_numbers() -> None:
    """A memory plan, an order of operators or unknown metadata speak of tensors by number."""
    order = bytes([1, 2, 1, 1, 0, 0])  # version, subgraphs, pairs: from the start to 0; none
    for name, data in (("OfflineMemoryAllocation", bytes(16)), ("model_control_dependencies", order)):
        tree = tree_of(memoryview(trim_models.cluttered(metadata=[{"name": name, "buffer": 3}])))
        tree["buffers"][3]["data"] = data
        before = write(tree)
        found = trimmed(before)
        after = outlive.read(found.data)
        assert [len(graph.tensors) for graph in after.subgraphs] == [4, 2]
        assert found.removed == ("2 empty buffers", "2 unused operator codes")
        [entry] = after.metadata
        assert bytes(entry.data or b"") == data


def test_signatures_still_call_what_they_called() -> None:
    found = trimmed(trim_models.signed())
    value = np.array([[-1, 2, -3, 4]], np.float32)
    with outlive.Interpreter(model_content=found.data) as interpreter:
        for key, expected in (("main", np.maximum(value, 0)), ("third", -value)):
            seen = interpreter.get_signature_runner(key)(given=value)["result"]
            np.testing.assert_array_equal(seen, expected)


def test_variables_and_what_fills_them_stay() -> None:
    for before in (cut_models.counting(), dropin_models.MODELS["remembering"]()):
        same_results(before, trimmed(before).data)


@pytest.mark.parametrize("kind", ["CUSTOM", "RANDOM_UNIFORM", "WHILE", "IF"])
def test_what_may_act_beyond_its_outputs_stays(kind: str) -> None:
    """Nobody reads its output; still it may log, count, draw the next number, or write a variable inside."""
    tree = tree_of(memoryview(trim_models.dead()))
    tree["operator_codes"][1] = {"builtin_code": kind, "custom_code": "Audit", "version": 1}
    tree["subgraphs"][0]["operators"][1] |= {"builtin_options_type": "NONE", "builtin_options": None}
    found = trimmed(write(tree))
    assert found.removed[0] == "1 unused operator: 2 ABS"
    assert [op.type for op in outlive.read(found.data).operators()] == ["RELU", kind]


def test_every_field_survives() -> None:
    """What is not waste is written back as it was, be it rare or not."""
    before = cut_models.tree_of_oddities()
    before["buffers"].append({"data": b"more that nobody uses"})
    found = trimmed(write(before))
    assert found.removed == ("2 unused constants: 36 B",)
    after, whole = tree_of(memoryview(found.data)), tree_of(memoryview(write(before)))
    kept = whole.pop("buffers")[:5]
    assert after.pop("buffers") == kept
    assert after == whole


def test_constants_behind_the_flatbuffer_stay_behind_it() -> None:
    inside = trim_models.repeated()
    before = write(tree_of(memoryview(inside)), outside=True)
    found = trimmed(before)
    assert found.saved_bytes > 0
    assert outlive.read(found.data).buffers[1].outside
    same_results(before, found.data)


def test_a_model_compiled_for_an_npu_is_left_alone() -> None:
    tree = tree_of(memoryview(trim_models.cluttered()))
    tree["operator_codes"][0] |= {"builtin_code": "CUSTOM", "custom_code": "DISPATCH_OP"}
    assert trimmed(write(tree)).saved_bytes == 0


def test_a_broken_file_comes_back_as_it_is() -> None:
    tree = tree_of(memoryview(trim_models.cluttered()))
    tree["subgraphs"][0]["operators"][0]["inputs"] = [99]
    broken = write(tree)
    found = trim(outlive.read(broken, tolerant=True))
    assert (found.data, found.saved_bytes) == (broken, 0)


def test_the_wasteful_demo_model_has_nothing_left_to_find() -> None:
    before = demo_models.path("wasteful")
    found = trimmed(before)
    assert {item.code for item in outlive.check(before)} >= {"M101", "M102", "M103", "M104"}
    assert not {item.code for item in outlive.check(found.data)}.intersection(WASTE)
    same_results(before.read_bytes(), found.data)


@pytest.mark.parametrize("name", demo_models.NAMES)
def test_trimming_twice_is_trimming_once(name: str) -> None:
    once = trimmed(demo_models.path(name))
    assert trimmed(once.data).saved_bytes == 0


@pytest.mark.corpus
def test_corpus_models_give_the_same_bits(corpus_models: tuple[Path, ...], corpus_manifest: Any) -> None:
    """Models that run here, as they are and trimmed, with XNNPACK and without."""
    changed = 0
    for path in corpus_models[::3]:
        if corpus_manifest[path.name]["outcome"] != "ok" or path.stat().st_size > 200_000:
            continue
        before = path.read_bytes()
        found = trimmed(path)
        changed += bool(found.saved_bytes)
        assert trimmed(found.data).saved_bytes == 0, path.name
        assert len(found.data) == len(before) - found.saved_bytes
        if found.saved_bytes:
            same_results(before, found.data)
    assert changed > 5
