"""One step decides which shapes inputs get from given arrays: for run, check, diagnose and probe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.errors import InputError
from outlive.units import may_become
from tests.interpreter.dropin_models import graph, model, op, unary
from tests.model.small import tensor

F4 = np.float32


@pytest.mark.parametrize(
    ("shape", "signature", "given", "allowed"),
    [
        ((2, 3), (-1, 3), (5, 3), True),
        ((2, 3), (-1, 3), (5, 4), False),
        ((2, 3), (-1, 3), (5, 3, 1), False),
        ((1, 224, 224, 3), (1, 224, 224, 3), (8, 224, 224, 3), True),
        ((1, 224, 224, 3), None, (8, 224, 224, 3), True),
        ((1, 1, 1, 3), None, (1, 320, 240, 3), True),
        ((1, 1), None, (1, 128), True),
        ((1,), None, (16000,), True),
        ((1, 28, 28, 1), None, (1, 28, 28, 3), False),  # kernels would take channels for groups
        ((1, 224, 224, 3), (1, -1, -1, 3), (8, 224, 224, 3), False),  # the file says which are open
        ((1, 224, 224, 3), None, (1, 320, 320, 3), False),
        ((1, 4), None, (0, 4), False),
        ((), None, (4,), False),
    ],
)
def test_what_a_file_allows(shape: Any, signature: Any, given: Any, allowed: bool) -> None:
    assert may_become(shape, signature, given) is allowed


def shaped(shape: list[int], signature: list[int] | None = None) -> bytes:
    return unary("FLOOR", "FLOAT32", shape, shape_signature=signature)


@pytest.mark.parametrize("data", [shaped([2, 3], [-1, 3]), shaped([1, 3])])
@pytest.mark.parametrize("accelerator", ["cpu", "builtin"])
def test_a_run_takes_the_shape_of_the_array(data: bytes, accelerator: str) -> None:
    given = np.linspace(-4, 4, 15, dtype=F4).reshape(5, 3)
    flight = outlive.run(data, [given], accelerator=accelerator)
    assert np.array_equal(flight.values["y"], np.floor(given))
    assert flight.resized == {0: (5, 3)}
    assert flight.to_json()["resized"] == [{"index": 0, "shape": [5, 3]}]
    assert outlive.diagnose(data, [given]).verdict is None
    assert not [item for item in outlive.check(data, inputs=[given], ram="1MB") if item.code[0] in "IM"]
    as_it_is = outlive.run(data)
    assert as_it_is.resized == {}


def test_a_limit_is_held_against_the_shape_that_is_given() -> None:
    """The file's own shape would not fit, and is not the one that is run."""
    data, given = shaped([1_000_000, 3], [-1, 3]), np.ones((5, 3), F4)
    limits = outlive.Limits(memory="8MB")
    with pytest.raises(outlive.errors.LimitReached):
        outlive.run(data, limits=limits)
    assert outlive.run(data, [given], limits=limits).outputs[0].shape == (5, 3)
    too_much = [item.code for item in outlive.check(data, inputs=[given], ram="8MB")]
    assert "M201" not in too_much
    assert "M201" in [item.code for item in outlive.check(data, ram="8MB")]


def reshaped() -> bytes:
    """A model whose 1 is no placeholder: a reshape has it as a constant."""
    tensors = [
        tensor("x", "FLOAT32", [1, 4]),
        tensor("to", "INT32", [2], buffer=1),
        tensor("y", "FLOAT32", [2, 2]),
    ]
    step = op(0, [0, 1], [2], "Reshape")
    return model(["RESHAPE"], graph(tensors, [0], [2], step), buffers=(np.array([2, 2], np.int32),))


def test_a_1_that_stands_for_no_other_size_is_a_wrong_shape() -> None:
    with pytest.raises(InputError) as caught:
        outlive.run(reshaped(), [np.ones((3, 4), F4)])
    assert caught.value.finding.code == "I203"
    assert not [item for item in caught.value.finding.remedies if "resize" in item.action]
    diagnosis = outlive.diagnose(reshaped(), [np.ones((3, 4), F4)])
    assert diagnosis.cause == "wrong-shape"
    assert {"usual inputs", "zeros"} <= set(diagnosis.works_with)


def test_an_interpreter_advises_what_a_run_does() -> None:
    with outlive.Interpreter(model_content=shaped([2, 3], [-1, 3])) as interpreter:
        interpreter.allocate_tensors()
        with pytest.raises(InputError) as caught:
            interpreter.set_tensor(0, np.ones((5, 3), F4))
        first = caught.value.finding.remedies[0]
        assert first.command == "interpreter.resize_tensor_input(0, [5, 3]); interpreter.allocate_tensors()"
        with pytest.raises(InputError) as caught:
            interpreter.set_tensor(0, np.ones((2, 4), F4))
        assert "if the model supports it" in caught.value.finding.remedies[-1].action


def windowed() -> bytes:
    """A window of three on an image that is one pixel large in the file."""
    tensors = [
        tensor("x", "FLOAT32", [1, 1, 1, 1], shape_signature=[1, -1, -1, 1]),
        tensor("w", "FLOAT32", [1, 3, 3, 1], buffer=1),
        tensor("b", "FLOAT32", [1], buffer=2),
        tensor("y", "FLOAT32", [1, 1, 1, 1]),
    ]
    options = {
        "padding": "VALID",
        "stride_w": 1,
        "stride_h": 1,
        "dilation_w_factor": 1,
        "dilation_h_factor": 1,
    }
    step = op(0, [0, 1, 2], [3], "Conv2D", **options)
    constants = np.ones((1, 3, 3, 1), F4), np.zeros(1, F4)
    return model(["CONV_2D"], graph(tensors, [0], [3], step), buffers=constants)


def test_a_placeholder_that_is_refused_is_an_error_unless_it_is_replaced() -> None:
    data, given = windowed(), [np.ones((1, 5, 5, 1), F4)]
    assert outlive.run(data).error_type == "RuntimeError"
    assert [item.code for item in outlive.check(data)] == ["O133"]
    diagnosis = outlive.diagnose(data)
    assert (diagnosis.cause, diagnosis.stage) == ("shape-mismatch", "allocate")
    assert diagnosis.verdict is not None
    assert diagnosis.verdict.code == "O133"
    assert outlive.run(data, given).outputs[0].shape == (1, 3, 3, 1)
    assert "O133" not in [item.code for item in outlive.check(data, inputs=given)]


def test_probe_takes_it_too(tmp_path: Path) -> None:
    coverage = outlive.probe(shaped([2, 3], [-1, 3]), only=["cpu"], inputs=[np.ones((5, 3), F4)], cache=False)
    assert coverage.accelerators[0].runs
