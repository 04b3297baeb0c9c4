"""Shapes from the runtime, and what a run takes: real workers, which may fail and never take us along."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

import outlive  # opens the public door: workers get their judge
from outlive import demo_models
from outlive.interpreter.prepared_shapes import _prepared_shapes, preparer
from outlive.interpreter.recorded_run import measure
from outlive.surgery import write
from tests.rules.small import graph, operator, tensor, tree

HEALTHY = str(demo_models.path("healthy"))


def test_a_resize_reaches_every_tensor() -> None:
    model = outlive.read(HEALTHY)
    shapes, problem = preparer(HEALTHY)({model.inputs[0].index: (3, 64, 64, 3)})
    assert problem == ""
    assert shapes[0, model.inputs[0].index] == (3, 64, 64, 3)
    assert shapes[0, model.outputs[0].index] == (3, 10)
    assert all(isinstance(size, int) for shape in shapes.values() for size in shape)


def test_bytes_do_as_well_as_a_path() -> None:
    assert preparer(Path(HEALTHY).read_bytes())({}) == preparer(HEALTHY)({})


def test_a_model_is_prepared_and_not_run() -> None:
    shapes, problem = preparer(str(demo_models.path("deadly")))({})
    assert problem == ""
    assert shapes


@pytest.mark.parametrize(
    ("resized", "said"),
    [
        ({0: (1, 64, 64, 5)}, "failed to prepare"),
        ({99: (1, 2)}, "."),
        ({0: (1000, 60000, 60000, 3)}, "memory"),
    ],
)
def test_what_cannot_be_prepared_is_told(resized: dict[int, tuple[int, ...]], said: str) -> None:
    shapes, problem = preparer(HEALTHY)(resized)
    assert shapes == {}
    assert said in problem


def test_a_custom_operator_is_named() -> None:
    made = tree(graph([tensor("x", [1]), tensor("y", [1])], [operator("Mystery", [0], [1])], [0], [1]))
    shapes, problem = preparer(write(made))({})
    assert shapes == {}
    assert "Mystery" in problem


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    assert preparer(str(tmp_path / "gone.tflite"))({})[1]


def test_a_run_is_measured_by_stage() -> None:
    seen = measure(str(demo_models.path("too_big")), accelerator="builtin")
    assert seen.problem == ""
    assert seen.load_bytes is not None
    assert seen.allocate_bytes is not None
    assert seen.invoke_bytes is not None
    assert seen.load_bytes <= seen.allocate_bytes < seen.invoke_bytes
    assert seen.invoke_bytes > 768 * 2**20


def test_a_measured_run_may_be_resized() -> None:
    small = measure(HEALTHY, accelerator="builtin")
    large = measure(HEALTHY, accelerator="builtin", shapes={0: (64, 64, 64, 3)})
    assert small.invoke_bytes is not None
    assert large.invoke_bytes is not None
    assert large.invoke_bytes > small.invoke_bytes + 10 * 2**20


def test_a_death_is_told_and_we_live() -> None:
    seen = measure(str(demo_models.path("deadly")), accelerator="builtin")
    assert "SIGSEGV" in seen.problem
    assert seen.invoke_bytes is None
    assert seen.allocate_bytes is not None


def test_inputs_are_not_brought_over_for_their_shapes() -> None:
    """Sharing an input of gigabytes would take seconds for each; a plan asks for shapes of many."""
    with contextlib.closing(outlive.Interpreter(model_path=HEALTHY)) as interpreter:
        block = interpreter._session.worker.block
        before = len(block.map)
        interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], [500, 64, 64, 3])
        assert _prepared_shapes(interpreter)
        assert len(block.map) == before
