"""Failures without a word in real runs: where NaN is made, which outputs never change, what nobody set."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.surgery import write
from tests.interpreter.test_untouched import detector
from tests.rules.small import graph, noise, operator, tensor, tree

Array = np.ndarray[Any, Any]
HEALTHY = str(demo_models.path("healthy"))


def layers(first: str = "ABS", weights: Array | None = None) -> bytes:
    """An operator, and a dense layer behind it."""
    ends = [
        tensor("x", [1, 8]),
        tensor("h", [1, 8]),
        tensor("weights", [8, 8], buffer=1),
        tensor("y", [1, 8]),
    ]
    dense = operator("FULLY_CONNECTED", [1, 2, -1], [3], "FullyConnectedOptions")
    steps = [operator(first, [0], [1]), dense]
    return write(tree(graph(ends, steps, [0], [3]), buffers=[noise(8, 8) if weights is None else weights]))


def broken() -> bytes:
    weights = noise(8, 8)
    weights[3, 5] = np.nan
    return layers(weights=weights)


def told(found: Any) -> dict[str, outlive.Finding]:
    """What was found without a word, by code."""
    return {finding.code: finding for finding in found if finding.code[0] == "S" and finding.code != "S703"}


def test_the_operator_that_makes_nan_is_named_and_its_weights() -> None:
    (finding,) = told(outlive.run(broken()).findings).values()
    assert (finding.code, finding.op) == (
        "S706",
        outlive.finding.OpPlace(subgraph=0, index=1, type="FULLY_CONNECTED"),
    )
    assert "contains 1 of 64 values that are not finite" in finding.evidence[-1].fact


def test_numbers_that_nobody_chose_are_not_held_against_a_logarithm() -> None:
    model = layers("LOG")
    assert outlive.run(model).outputs[0].not_finite
    assert told(outlive.run(model).findings) == {}
    (finding,) = told(outlive.run(model, [np.full((1, 8), -1, np.float32)]).findings).values()
    assert (finding.code, finding.op and finding.op.type) == ("S706", "LOG")
    assert told(outlive.run(model, [np.full((1, 8), np.nan, np.float32)]).findings) == {}


def test_an_output_that_never_changes_is_told_where_somebody_looks() -> None:
    dead = layers(weights=np.zeros((8, 8), np.float32))
    assert told(outlive.run(dead).findings) == {}
    looked = (outlive.run(dead, repeat=2).findings, outlive.diagnose(dead).silent)
    for found in looked:
        assert told(found)["S707"].op == outlive.finding.OpPlace(subgraph=0, index=1, type="FULLY_CONNECTED")
    assert told(outlive.run(layers(), repeat=2).findings) == {}
    assert told(outlive.run(HEALTHY, repeat=2).findings) == {}


def test_pixels_without_a_scale_are_tried_over_their_whole_range() -> None:
    """Random ones are 0 and 1, and a model may well give the same for these: nothing is wrong with it."""
    ends = [tensor("x", [1, 8], "UINT8"), tensor("f", [1, 8]), tensor("ten", [1], buffer=1), *_ends("d", "y")]
    steps = [
        operator("CAST", [0], [1], "CastOptions", in_data_type="UINT8", out_data_type="FLOAT32"),
        operator("SUB", [1, 2], [3], "SubOptions"),
        operator("RELU", [3], [4]),
    ]
    model = write(tree(graph(ends, steps, [0], [4]), buffers=[np.array([10], np.float32)]))
    flight = outlive.run(model, repeat=2)
    assert flight.values["y"].max() == 0
    assert told(flight.findings) == {}


def _ends(*names: str) -> list[dict[str, Any]]:
    return [tensor(name, [1, 8]) for name in names]


def opened(model: bytes | str = HEALTHY) -> tuple[outlive.Interpreter, int, int]:
    given = {"model_path": model} if isinstance(model, str) else {"model_content": model}
    interpreter = outlive.Interpreter(**given)
    interpreter.allocate_tensors()
    rows = (interpreter.get_input_details()[0], interpreter.get_output_details()[0])
    return interpreter, *(row["index"] for row in rows)


def test_an_interpreter_says_that_an_output_is_not_finite_unless_it_was_given_so() -> None:
    weights = noise(8, 8)
    weights[3, 5] = np.nan
    for model, given, found in ((weights, 1.0, ["S706"]), (noise(8, 8), np.nan, []), (noise(8, 8), 1.0, [])):
        interpreter, index, _ = opened(layers("RELU", model))
        interpreter.set_tensor(index, np.full((1, 8), given, np.float32))
        interpreter.invoke()
        assert list(told(interpreter.findings)) == found


def test_whoever_reads_what_was_computed_of_nothing_is_told_once() -> None:
    interpreter, _, output = opened()
    interpreter.invoke()
    with pytest.warns(outlive.SilentFailure, match="S709") as seen:
        first = interpreter.get_tensor(output)
    assert seen[0].filename == __file__
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(output), first)  # and a warning would be an error here
    assert list(told(interpreter.findings)) == ["S709"]


def test_runs_on_inputs_that_nobody_sets_ask_the_worker_nothing() -> None:
    interpreter, *_ = opened()
    interpreter.invoke()
    interpreter._ask_about = None  # type: ignore[method-assign, assignment]
    for _ in range(3):
        interpreter.invoke()


def set_it(interpreter: outlive.Interpreter, index: int) -> None:
    interpreter.set_tensor(index, np.zeros(interpreter.get_input_details()[0]["shape"], np.float32))


def view_it(interpreter: outlive.Interpreter, index: int) -> None:
    interpreter.tensor(index)()[...] = 0


def warm_up(interpreter: outlive.Interpreter, index: int) -> None:
    interpreter.invoke()
    set_it(interpreter, index)


def allocate_again(interpreter: outlive.Interpreter, index: int) -> None:
    set_it(interpreter, index)
    interpreter.allocate_tensors()


@pytest.mark.parametrize("how", [set_it, view_it, warm_up, allocate_again])
def test_inputs_that_were_set_are_no_finding(how: Callable[[outlive.Interpreter, int], None]) -> None:
    interpreter, given, output = opened()
    how(interpreter, given)
    interpreter.invoke()
    interpreter.get_tensor(output)
    assert told(interpreter.findings) == {}


def test_an_input_that_a_resize_emptied_is_unset_again() -> None:
    interpreter, given, output = opened(layers())
    interpreter.set_tensor(given, np.ones((1, 8), np.float32))
    interpreter.resize_tensor_input(given, [2, 8])
    interpreter.allocate_tensors()
    interpreter.invoke()
    with pytest.warns(outlive.SilentFailure, match="S709"):
        interpreter.get_tensor(output)


def test_rows_that_an_earlier_run_left_are_told() -> None:
    interpreter, *_ = opened(write(detector()))
    apart = np.zeros((1, 2, 4), np.float32)
    apart[0, 1] = 9
    interpreter.set_tensor(0, apart)
    for sure in (0.8, 0.0):
        interpreter.set_tensor(1, np.array([[[0, 0.9], [0, sure]]], np.float32))
        interpreter.invoke()
    # The second row is that of the first run; what lies in the third, which no run wrote, is anything.
    assert (interpreter.get_tensor(6)[0], interpreter.get_tensor(5)[0, 1]) == (1, np.float32(0.8))
    assert list(told(interpreter.findings)) == ["S708"]


def test_a_variable_that_nobody_assigned_is_found_in_the_run_and_the_file(tmp_path: Any) -> None:
    from tests.rules.s704.bad import source

    model = str(source(tmp_path))
    found = (outlive.check(model), outlive.run(model).findings, outlive.diagnose(model).findings)
    assert [list(told(one)) for one in found] == [["S704"]] * 3
    assert outlive.diagnose(model).cause == "uninitialised-input"


def test_asking_what_went_wrong_warns_of_nothing() -> None:
    interpreter, *_ = opened()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert told(interpreter.findings) == {}


def two_inputs() -> bytes:
    """The sum of two inputs."""
    ends = [tensor("a", [1, 8]), tensor("b", [1, 8]), tensor("y", [1, 8])]
    return write(tree(graph(ends, [operator("ADD", [0, 1], [2], "AddOptions")], [0, 1], [2])))


def test_a_run_names_the_inputs_that_a_mapping_leaves_out() -> None:
    values = np.ones((1, 8), np.float32)
    (finding,) = outlive.run(two_inputs(), {"a": values}).findings
    assert (finding.code, finding.where) == ("S709", 'input "b", tensor 1')
    assert "random numbers" in finding.why
    assert not outlive.run(two_inputs(), {"a": values, "b": "random"}).findings
    assert not outlive.run(two_inputs()).findings


def test_a_compiled_model_names_the_buffer_that_was_never_written_once() -> None:
    with outlive.CompiledModel.from_file(HEALTHY) as model:
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
        with pytest.warns(outlive.SilentFailure, match="S709") as seen:
            model.run_by_index(0, inputs, outputs)
        assert seen[0].filename == __file__
        model.run_by_index(0, inputs, outputs)  # a second warning would be an error here


def test_a_compiled_model_whose_buffers_were_written_says_nothing() -> None:
    with outlive.CompiledModel.from_file(HEALTHY) as model:
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
        inputs[0].write(np.zeros((1, 64, 64, 3), np.float32))
        model.run_by_index(0, inputs, outputs)
