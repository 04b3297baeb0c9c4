"""What a model is given is a cause of its own: values are judged beside the run that they ended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import outlive
from outlive.diagnosis.autopsy import read_text
from outlive.process.flight import OpSeen
from tests.deaths import models
from tests.deaths.scenes import HEALTHY
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor


def looking_up() -> bytes:
    """Rows 0 to 3 of a table, by index."""
    tensors = [
        tensor("table", "FLOAT32", [4, 2], buffer=1),
        tensor("index", "INT32", [1]),
        tensor("row", "FLOAT32", [1, 2]),
    ]
    steps = op(0, [0, 1], [2], "Gather", axis=0)
    return model(["GATHER"], graph(tensors, [1], [2], steps), buffers=(np.ones((4, 2), np.float32),))


def dividing(kind: str) -> bytes:
    tensors = [tensor(name, kind, [1]) for name in ("a", "b", "c")]
    return model(["DIV"], graph(tensors, [0, 1], [2], op(0, [0, 1], [2], "Div")))


def doubling() -> bytes:
    """Numbers with a scale of a tenth, added to themselves."""
    scaled = {"quantization": {"scale": [0.1], "zero_point": [3]}}
    tensors = [tensor("x", "INT8", [1, 4], **scaled), tensor("y", "INT8", [1, 4], **scaled)]
    return model(["ADD"], graph(tensors, [0], [1], op(0, [0, 0], [1], "Add")))


def random_numbers() -> bytes:
    tensors = [tensor("shape", "INT32", [2]), tensor("numbers", "FLOAT32", [2, 3])]
    return model(["RANDOM_UNIFORM"], graph(tensors, [0], [1], op(0, [0], [1], "Random")))


def upsampling() -> bytes:
    """A transposed convolution whose output's shape is an input of the model."""
    tensors = [
        tensor("shape", "INT32", [4]),
        tensor("weights", "FLOAT32", [1, 2, 2, 1], buffer=1),
        tensor("x", "FLOAT32", [1, 2, 2, 1]),
        tensor("y", "FLOAT32", [1, 4, 4, 1]),
    ]
    step = op(0, [0, 1, 2], [3], "TransposeConv", padding="VALID", stride_w=2, stride_h=2)
    weights = np.ones((1, 2, 2, 1), np.float32)
    return model(["TRANSPOSE_CONV"], graph(tensors, [0, 2], [3], step), buffers=(weights,))


@pytest.mark.parametrize(
    ("data", "inputs", "code", "cause", "op_type"),
    [
        (doubling(), [np.array([[0.5, 1, 2, 3]], np.float32)], "I301", "not-quantized", None),
        (
            models.dividing(),
            [np.array([models.LEAST]), np.array([-1])],
            "I309",
            "int-min-divided-by-minus-one",
            "FLOOR_MOD",
        ),
        (
            dividing("INT32"),
            [np.array([4], np.int32), np.array([0], np.int32)],
            "I310",
            "constant-out-of-range",
            "DIV",
        ),
        (
            random_numbers(),
            {"shape": np.array([-3, 4], np.int32)},
            "I311",
            "runtime-shape-from-input",
            "RANDOM_UNIFORM",
        ),
    ],
    ids=["floats", "smallest", "zero", "negative size"],
)
def test_values_that_end_a_run_are_its_cause(
    data: bytes, inputs: Any, code: str, cause: str, op_type: str | None
) -> None:
    diagnosis = outlive.diagnose(data, inputs)
    assert diagnosis.verdict is not None
    assert (diagnosis.verdict.code, diagnosis.cause) == (code, cause)
    assert (None if diagnosis.op is None else diagnosis.op.type) == op_type


def test_an_index_outside_of_its_table_is_named() -> None:
    diagnosis = outlive.diagnose(looking_up(), [np.array([9], np.int32)])
    assert diagnosis.verdict is not None
    assert diagnosis.verdict.code == "I308"
    assert diagnosis.op == OpSeen(type="GATHER", index=0)
    assert "zeros" in diagnosis.works_with


def scattering() -> bytes:
    """Values for places that an input names, in a tensor whose shape is an input too."""
    tensors = [
        tensor("places", "INT32", [2, 1]),
        tensor("values", "FLOAT32", [2]),
        tensor("shape", "INT32", [1]),
        tensor("y", "FLOAT32", [4]),
    ]
    return model(["SCATTER_ND"], graph(tensors, [0, 1, 2], [3], op(0, [0, 1, 2], [3], "ScatterNd")))


def test_an_index_out_of_bounds_is_no_want_of_memory() -> None:
    places, shape = np.array([[1], [7]], np.int32), np.array([4], np.int32)
    diagnosis = outlive.diagnose(scattering(), [places, np.ones(2, np.float32), shape])
    assert diagnosis.cause == "data-dependent-index"
    assert diagnosis.op == OpSeen(type="SCATTER_ND", index=0)
    assert diagnosis.verdict is not None
    assert "memory" not in diagnosis.verdict.why


def test_a_size_that_is_an_input_is_tried_as_the_file_has_it() -> None:
    diagnosis = outlive.diagnose(upsampling(), "ones")
    assert diagnosis.cause == "runtime-shape-from-input"
    assert diagnosis.op == OpSeen(type="TRANSPOSE_CONV", index=0)
    assert "fitting sizes" in diagnosis.works_with


def adding_rows(signature: list[int]) -> bytes:
    """Rows to which a constant of two rows is added."""
    tensors = [
        tensor("x", "FLOAT32", [2, 3], shape_signature=signature),
        tensor("w", "FLOAT32", [2, 3], buffer=1),
        tensor("y", "FLOAT32", [2, 3], shape_signature=signature),
    ]
    step = op(0, [0, 1], [2], "Add")
    return model(["ADD"], graph(tensors, [0], [2], step), buffers=(np.ones((2, 3), np.float32),))


def test_an_input_that_the_model_leaves_open_is_resized_as_it_is_given() -> None:
    given = [np.zeros((5, 3), np.float32)]
    diagnosis = outlive.diagnose(adding_rows([-1, 3]), given)
    assert (diagnosis.cause, diagnosis.stage) == ("bad-resize", "allocate")
    assert diagnosis.works_with == ("usual inputs",)
    assert outlive.diagnose(adding_rows([2, 3]), given).cause == "wrong-shape"
    one = outlive.diagnose(adding_rows([-1, 3]), [np.zeros((1, 3), np.float32)])
    assert one.verdict is None


def test_an_output_that_outgrows_the_file_is_told_although_nothing_failed() -> None:
    diagnosis = outlive.diagnose(random_numbers(), [np.array([20, 30], np.int32)])
    assert (diagnosis.verdict, diagnosis.cause) == (None, "")
    assert [finding.code for finding in diagnosis.silent] == ["D520", "S703"]
    fitting = outlive.diagnose(random_numbers(), [np.array([2, 3], np.int32)])
    assert [finding.code for finding in fitting.silent] == ["S703"]


def test_an_exception_that_was_caught_is_diagnosed() -> None:
    with outlive.Interpreter(HEALTHY) as interpreter:
        interpreter.allocate_tensors()
        with pytest.raises(ValueError, match="I20") as caught:
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.zeros((3, 3), np.float32))
    diagnosis = outlive.diagnose(caught.value)
    assert (diagnosis.cause, diagnosis.stage, diagnosis.died) == ("wrong-shape", "set", False)
    with outlive.Interpreter(model_content=random_numbers()) as interpreter:
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.array([-3, 4], np.int32))
        with pytest.raises(outlive.ModelDied) as died:
            interpreter.invoke()
    found = outlive.diagnose(died.value)
    assert (found.cause, found.stage, found.died) == ("runtime-shape-from-input", "invoke", True)
    assert found.op == OpSeen(type="RANDOM_UNIFORM", index=0)
    assert died.value.finding.cause == found.cause


@pytest.mark.parametrize(
    ("words", "stage"),
    [
        ("XNNPack delegate failed to reshape runtimeNode number 5 (TfLiteXNNPackDelegate) failed to prepare.",
         "allocate"),
        ("data[i] != zero_point was not true.Node number 0 (DIV) failed to invoke.", "invoke"),
        ("Node number 4 (SLICE) failed to prepare.Node number 1 (WHILE) failed to invoke.", "invoke"),
    ],
)  # fmt: skip
def test_the_stage_is_the_one_that_the_words_name(words: str, stage: str) -> None:
    assert outlive.diagnose(RuntimeError(words)).stage == stage
    assert read_text(f"some line\nRuntimeError: {words}").stage == stage


def test_words_of_a_runtime_alone_are_diagnosed() -> None:
    error = RuntimeError("There is at least 1 reference to internal data")
    assert outlive.diagnose(error).cause == "stale-view"
    assert outlive.diagnose(MemoryError()).cause == "out-of-memory"
    assert outlive.diagnose(RuntimeError("words that nobody knows")).cause == "unknown"
