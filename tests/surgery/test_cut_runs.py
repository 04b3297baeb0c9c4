"""Parts run: in workers, with the values that they had in the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlive
from outlive import demo_models
from outlive.surgery import Cut
from tests.interpreter import dropin_models
from tests.surgery import cut_models

FLOATS = np.array([[-1, 2, -3, 4]], np.float32)
SETTINGS = {"experimental_op_resolver_type": outlive.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES}


def run(part: Cut, times: int = 1, **values: Any) -> list[Any]:
    """The outputs of the last of several runs."""
    with outlive.Interpreter(model_content=part.model, **SETTINGS) as interpreter:
        interpreter.allocate_tensors()
        for tensor in part.inputs:
            interpreter.set_tensor(tensor.index, np.asarray(values[tensor.name]))
        for _ in range(times):
            interpreter.invoke()
        return [interpreter.get_tensor(tensor.index) for tensor in part.outputs]


def test_constants_become_inputs_and_inputs_constants() -> None:
    whole = cut_models.branches()
    as_input = outlive.cut(whole, ops=4, make_input="offset")
    [seen] = run(as_input, a=FLOATS, offset=2 * cut_models.FOUR)
    np.testing.assert_array_equal(seen, FLOATS + 2 * cut_models.FOUR)
    fixed = outlive.cut(whole, make_constant={"x": FLOATS})
    [seen] = run(fixed)
    np.testing.assert_array_equal(seen, np.abs(FLOATS) - np.maximum(FLOATS, 0))
    replaced = outlive.cut(whole, ops=4, make_constant={"offset": FLOATS})
    np.testing.assert_array_equal(run(replaced, a=FLOATS)[0], 2 * FLOATS)


def test_a_variable_has_its_first_value_or_the_one_that_is_fed() -> None:
    whole = cut_models.counting()
    assert run(outlive.cut(whole, ops=2))[0] == [5]
    assert run(outlive.cut(whole, ops=5), sum=np.array([7], np.float32))[0] == [7]
    one = np.array([1], np.float32)
    assert run(outlive.cut(whole), times=3, x=one)[0] == [-8]
    assert run(outlive.cut(whole, outputs="before"), times=3)[0] == [5]
    assert run(outlive.cut(whole, ops=4), sum=one) == []


@pytest.mark.parametrize("which", [True, False])
def test_control_flow_runs(which: bool) -> None:
    part = outlive.cut(cut_models.choosing(), ops=1)
    value = np.array([3, 5], np.float32)
    [seen] = run(part, which=np.array([which]), positive=value)
    np.testing.assert_array_equal(seen, 2 * value if which else value * value)


def test_a_variable_tensor_starts_at_zero() -> None:
    part = outlive.cut(dropin_models.MODELS["remembering"](), ops=0)
    x = np.array([[1, 2]], np.float32)
    np.testing.assert_array_equal(run(part, times=3, x=x)[0], 3 * x)
    assert part.state == ("1 variable tensor: zero at first, and kept from run to run",)


def test_strings_can_be_fixed() -> None:
    words = [b"never", "gonna", b"", "gïve"]
    part = outlive.cut(dropin_models.MODELS["texts"](), make_constant={"words": np.array(words, object)})
    assert run(part)[0].tolist() == [b"", b"never"]


def test_new_input_shapes_reach_every_tensor() -> None:
    part = outlive.cut(demo_models.path("healthy"), input_shapes={"image": (1, 96, 96, 3)})
    assert part.shapes_from == "runtime"
    seen = outlive.read(part.model)
    shapes = {tensor.name: tensor.shape for tensor in seen.subgraphs[0].tensors}
    assert shapes["image"] == (1, 96, 96, 3)
    assert shapes["stem/conv"] == (1, 48, 48, 16)
    assert seen.inputs[0].shape_signature is None
    with outlive.Interpreter(model_content=part.model, **SETTINGS) as interpreter:
        interpreter.allocate_tensors()
        interpreter.invoke()
        for entry in interpreter.get_tensor_details():
            assert tuple(entry["shape"]) == shapes.get(entry["name"], tuple(entry["shape"]))


def test_shapes_that_the_model_does_not_take_are_refused() -> None:
    with pytest.raises(ValueError, match="does not take this part with 'image' at 1x64x64x4"):
        outlive.cut(demo_models.path("healthy"), input_shapes={"image": (1, 64, 64, 4)})


def test_shapes_of_what_the_runtime_cannot_prepare_are_the_files() -> None:
    part = outlive.cut(cut_models.oddities(), ops=1, input_shapes={"middle": (8, 4)})
    assert part.shapes_from == "file"
    assert part.state[-1].startswith("shapes between inputs and outputs are the file's")


def test_a_part_is_a_source_everywhere(tmp_path: Any) -> None:
    part = outlive.cut(demo_models.path("healthy"), ops=range(3, 8))
    assert outlive.plan(part.model).peak_bytes > 0
    assert not outlive.check(part.model).errors
    assert not outlive.run(part.model).died
    part.save(tmp_path / "part.tflite")
    assert (tmp_path / "part.tflite").read_bytes() == part.model
    assert outlive.cut(outlive.cut(part.model, ops=1).model, ops=0).ops == (0,)


GENERATED = {
    **{name: build() for name, build in dropin_models.MODELS.items()},
    "branches": cut_models.branches(),
    "halved": cut_models.halved(),
    "counting": cut_models.counting(),
    "choosing": cut_models.choosing(),
    **{name: demo_models.path(name).read_bytes() for name in ("healthy", "healthy_int8", "wasteful")},
}


@given(st.data())
@settings(max_examples=60)
def test_any_operators_of_any_model_make_a_model(data: st.DataObject) -> None:
    whole = GENERATED[data.draw(st.sampled_from(sorted(GENERATED)))]
    count = len(outlive.read(whole).subgraphs[0].operators)
    ops = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    start, stop = sorted((min(ops), max(ops)))
    chosen = data.draw(st.sampled_from([sorted(ops), range(start, stop + 1)]))
    part = outlive.cut(whole, ops=chosen)
    assert set(part.ops) >= set(chosen)
    assert set(part.ops) - set(chosen) == set(part.came_along)
    seen = outlive.read(part.model)
    assert not seen.flaws
    assert len(seen.subgraphs[0].operators) == len(part.ops)
    assert len(seen.buffers) == len({0, *(t.buffer_index for t in seen.tensors())}) + len(seen.metadata)
    assert len(seen.operator_codes) == len({(op.name, op.version) for op in seen.operators()})
    with outlive.Interpreter(model_content=part.model, **SETTINGS) as interpreter:
        interpreter.allocate_tensors()
        given = [(entry["index"], entry["name"]) for entry in interpreter.get_input_details()]
        assert given == [(tensor.index, tensor.name) for tensor in part.inputs]
