"""What users type: shapes, names, sweeps and settings, turned into a question or a clear refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.arena import planners as asking
from outlive.arena.plan import Plan, Question
from outlive.arena.questions import (
    PlanRequest,
    check_shape,
    choose_abi,
    find_input,
    full_shape,
    input_shapes,
    parse_input,
    parse_setting,
    parse_shape,
    parse_sweep,
    vary,
)
from outlive.model import Model
from outlive.surgery import write
from tests.arena.sketches import sketch
from tests.rules.small import graph, operator, relu, tensor, tree

MODEL = outlive.read(demo_models.path("healthy"))


def two_inputs() -> Model:
    """A picture and a scalar, known by other names in a signature."""
    tensors = [
        tensor("serving_default_photo:0", [1, 8, 8, 3]),
        tensor("gain", []),
        tensor("out", [1, 8, 8, 3]),
    ]
    signature = {
        "signature_key": "serve",
        "inputs": [{"name": "x", "tensor_index": 0}],
        "outputs": [{"name": "y", "tensor_index": 2}],
    }
    made = tree(graph(tensors, [operator("MUL", [0, 1], [2])], [0, 1], [2]), signature_defs=[signature])
    return outlive.read(write(made))


def test_shapes_are_read_as_people_write_them() -> None:
    assert parse_shape("1x512x512x3") == (1, 512, 512, 3)
    assert parse_shape("1X512×512x3") == (1, 512, 512, 3)
    assert parse_input("a=b=2x3") == ("a=b", (2, 3))
    assert check_shape([1, 2]) == (1, 2)
    assert check_shape("1x2") == (1, 2)


def test_an_array_gives_its_shape(tmp_path: Path) -> None:
    np.save(tmp_path / "photo.npy", np.zeros((1, 6, 8, 3), np.uint8))
    assert parse_input(f"image={tmp_path / 'photo.npy'}") == ("image", (1, 6, 8, 3))
    assert parse_input(str(tmp_path / "photo.npy")) == ("", (1, 6, 8, 3))
    (tmp_path / "text.npy").write_text("no array")
    for name in ("text.npy", "missing.npy"):
        with pytest.raises(ValueError, match=rf"{name}' is no array that can be read"):
            parse_input(f"image={tmp_path / name}")


@pytest.mark.parametrize(
    "text",
    ["", "x", "1x", "1xx2", "-1x3", "0x3", "1.5x2", "one", "1x99999999999", "9" * 5000, "2000000x2000000"],
)
def test_impossible_shapes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        parse_shape(text)


@pytest.mark.parametrize("shape", [(1, None), (1, "a"), 3, (2**21, 2**21), (-1,)])
def test_impossible_shapes_from_python_are_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="is no"):
        check_shape(shape)


def test_batch_replaces_the_first_dimension_of_every_input_that_has_one() -> None:
    assert input_shapes(MODEL, PlanRequest(batch=8)) == {MODEL.inputs[0].index: (8, 64, 64, 3)}
    assert input_shapes(MODEL, PlanRequest(batch=1)) == {}
    assert input_shapes(two_inputs(), PlanRequest(batch=2)) == {0: (2, 8, 8, 3)}
    both = PlanRequest(batch=2, inputs={"image": (1, 32, 32, 3)})
    assert input_shapes(MODEL, both) == {MODEL.inputs[0].index: (2, 32, 32, 3)}


@pytest.mark.parametrize("name", ["serving_default_photo:0", "x", "photo"])
def test_an_input_goes_by_its_name_its_signature_and_its_plain_name(name: str) -> None:
    assert find_input(two_inputs(), name).index == 0


def test_a_wrong_name_brings_near_ones() -> None:
    with pytest.raises(ValueError, match="did you mean 'image'"):
        find_input(MODEL, "imgae")
    with pytest.raises(ValueError, match="the inputs are 'gain', 'serving_default_photo:0'"):
        find_input(two_inputs(), "qqqqqqqq")
    with pytest.raises(ValueError, match="say which input"):
        find_input(two_inputs(), "")
    assert find_input(MODEL, "").name == "image"


def test_a_size_stands_for_a_whole_shape() -> None:
    image = MODEL.inputs[0]
    assert full_shape(image, (32,)) == (1, 32, 32, 3)
    assert full_shape(image, (48, 32)) == (1, 48, 32, 3)
    with pytest.raises(ValueError, match="4 dimensions"):
        full_shape(image, (1, 2, 3))


@pytest.mark.parametrize(
    ("shape", "size", "whole"),
    [
        ((1, 3, 8, 8), (16,), (1, 3, 16, 16)),
        ((1, 128), (64,), (1, 64)),
        ((1, 50, 40), (99,), (1, 99, 40)),
        ((96, 96, 3), (48,), (48, 48, 3)),
        ((7,), (9,), (9,)),
    ],
)
def test_a_size_is_put_where_it_belongs(shape: Any, size: Any, whole: Any) -> None:
    made = tree(graph([tensor("x", list(shape)), tensor("y", [1])], [], [0], [1]))
    assert full_shape(outlive.read(write(made)).inputs[0], size) == whole


def test_sweeps_are_every_combination() -> None:
    rows = list(vary(MODEL, PlanRequest(), ["batch=1,2", "image=32,1x64x64x3"]))
    assert [label for label, _ in rows] == [
        {"batch": "1", "image": "32"},
        {"batch": "1", "image": "1x64x64x3"},
        {"batch": "2", "image": "32"},
        {"batch": "2", "image": "1x64x64x3"},
    ]
    assert rows[2][1].batch == 2
    assert next(vary(MODEL, PlanRequest(), ["threads=4"]))[1].threads == 4
    assert list(vary(MODEL, PlanRequest(), [])) == [({}, PlanRequest())]


@pytest.mark.parametrize(
    "sweep",
    ["batch", "batch=", "=1", "batch=a", "batch=1x2", "nobody=3", "image=1x2x3", "batch=0", "threads=9999"],
)
def test_impossible_sweeps_are_refused(sweep: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        list(vary(MODEL, PlanRequest(), [sweep]))


def test_a_sweep_has_an_end() -> None:
    many = "batch=" + ",".join(map(str, range(1, 100)))
    with pytest.raises(ValueError, match="at most 64"):
        list(vary(MODEL, PlanRequest(), [many]))
    assert parse_sweep("a=b=1,2") == ("a=b", ((1,), (2,)))


def test_settings_to_compare() -> None:
    assert parse_setting("cpu+weight-cache", PlanRequest(accelerator="builtin")) == PlanRequest(
        weight_cache=True
    )
    assert parse_setting("builtin+preserve_all_tensors+threads=4", PlanRequest()) == PlanRequest(
        accelerator="builtin", preserve_all_tensors=True, threads=4
    )
    assert parse_setting("tflm+int-enum+cmsis-nn", PlanRequest()) == PlanRequest(
        accelerator="tflm", abi="int-enum", kernels="cmsis-nn"
    )
    for word in ("gpu", "cpu+magic", "cpu+threads=x", ""):
        with pytest.raises(ValueError, match=r".+"):
            parse_setting(word, PlanRequest())


def test_word_and_abi_agree() -> None:
    assert (choose_abi(None, None), choose_abi(64, None), choose_abi(32, "int-enum")) == (
        "cortex-m",
        "host64",
        "int-enum",
    )
    for word, abi in ((16, None), (64, "cortex-m"), (32, "host64"), (None, "sparc")):
        with pytest.raises(ValueError, match=r".+"):
            choose_abi(word, abi)


@pytest.mark.parametrize(
    "setting", [{"threads": 0}, {"batch": -1}, {"accelerator": "cpuu"}, {"kernels": "x"}]
)
def test_settings_that_there_are_not(setting: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        PlanRequest(**setting)


class Planner:
    """Stands in for a planner: keeps the questions it is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, plan: Plan) -> None:
        self.questions: list[Question] = []
        self.plan = plan
        monkeypatch.setattr(asking, "_ask", self)

    def __call__(self, model: Model, question: Question) -> Plan:
        self.questions.append(question)
        return self.plan


def test_shapes_after_a_resize_come_from_the_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    planner = Planner(monkeypatch, sketch())
    shapes = {(0, MODEL.inputs[0].index): (8, 64, 64, 3), (0, 5): (8, 10)}
    plan = asking.answer(MODEL, PlanRequest(batch=8), lambda resized: (shapes, ""))
    assert [question.shapes for question in planner.questions] == [shapes]
    assert plan.inputs == (("image", (8, 64, 64, 3), "float32"),)
    assert "as LiteRT gives them" in plan.assumed[-1]


def test_micro_says_that_it_cannot_resize(monkeypatch: pytest.MonkeyPatch) -> None:
    Planner(monkeypatch, sketch())
    plan = asking.answer(MODEL, PlanRequest(accelerator="tflm", batch=8), lambda resized: ({}, ""))
    assert "cannot resize" in plan.assumed[-1]


def test_a_size_the_runtime_refuses_is_an_error_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    planner = Planner(monkeypatch, sketch())
    with pytest.raises(asking.CannotResize, match="image at 8x64x64x3: it said no"):
        asking.answer(MODEL, PlanRequest(batch=8), lambda resized: ({}, "it said no"))
    assert planner.questions == []


def test_a_file_with_wrong_shapes_is_planned_again_with_the_runtimes(monkeypatch: pytest.MonkeyPatch) -> None:
    planner = Planner(monkeypatch, sketch(needs_runtime_shapes=True))
    shapes = {(0, 5): (1, 10)}
    asking.answer(MODEL, PlanRequest(), lambda resized: (shapes, ""))
    assert [question.shapes for question in planner.questions] == [{}, shapes]


def test_where_that_does_not_work_the_plan_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    Planner(monkeypatch, sketch(needs_runtime_shapes=True))
    plan = asking.answer(MODEL, PlanRequest(), lambda resized: ({}, "an operator is missing"))
    assert not plan.exact
    assert plan.bound == "lower"
    assert "an operator is missing" in plan.unknown[-1]


def test_a_batch_too_large_to_be_prepared_is_extrapolated(monkeypatch: pytest.MonkeyPatch) -> None:
    planner = Planner(monkeypatch, sketch())

    def prepare(resized: Any) -> Any:
        batch = resized[0][0]
        if batch > 4:
            return {}, "more than can be prepared in this machine's memory"
        return {(0, 0): (batch, 64, 64, 3), (0, 1): (7,), (0, 2): (10 * batch + 1, 5)}, ""

    plan = asking.answer(MODEL, PlanRequest(batch=1000), prepare)
    assert planner.questions[0].shapes == {(0, 0): (1000, 64, 64, 3), (0, 1): (7,), (0, 2): (10001, 5)}
    assert "batches of 2, 3 and 4" in plan.unknown[-1]
    assert not plan.exact
    assert plan.bound == "estimate"


def test_what_does_not_grow_evenly_is_not_extrapolated(monkeypatch: pytest.MonkeyPatch) -> None:
    Planner(monkeypatch, sketch())

    def prepare(resized: Any) -> Any:
        batch = resized[0][0]
        return ({(0, 0): (batch * batch,)}, "") if batch < 5 else ({}, "no memory")

    with pytest.raises(asking.CannotResize, match="no memory"):
        asking.answer(MODEL, PlanRequest(batch=9), prepare)


@pytest.mark.parametrize("accelerator", ["cpu", "builtin", "reference", "tflm"])
@pytest.mark.parametrize("shape", [(2**31 - 1, 32, 32), (1,) * 40], ids=["many values", "many dimensions"])
def test_a_shape_of_the_file_that_no_machine_can_hold_is_planned(
    shape: tuple[int, ...], accelerator: str
) -> None:
    model = outlive.read(write(relu(shape)))
    assert isinstance(outlive.plan(model, accelerator), Plan)
    judgement = outlive.check(model, ram="64KB", accelerator=accelerator)
    assert not [item for item in judgement.not_checked if "cannot be planned" in item.reason]


def test_a_batch_that_no_machine_can_hold_is_refused() -> None:
    model = outlive.read(demo_models.path("healthy"))
    with pytest.raises(ValueError, match="is no possible shape"):
        outlive.plan(model, batch=2**31 - 1)
