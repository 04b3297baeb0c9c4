"""Models that have little to do with each other: what cannot be compared is said, with the reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.cli.main import main
from outlive.surgery import tree_of, write
from tests.quant.networks import dense_float, ending_with, find, samples, weights

WHOLE = dense_float(weights(2))
GIVEN = samples(3)


def narrower() -> bytes:
    """Another network: other names, other weights, and 8 values at its end instead of 16."""
    tree = tree_of(memoryview(dense_float(weights(2, seed=9), names="other")))
    matrix, end = find(tree, "w1"), find(tree, "other1")
    values = np.frombuffer(bytes(tree["buffers"][matrix["buffer"]]["data"]), np.float32)
    tree["buffers"][matrix["buffer"]] = {"data": values[: 8 * 16]}
    matrix["shape"], end["shape"] = [8, 16], [1, 8]
    return write(tree)


def with_another_end() -> bytes:
    """The same network with one output more, which the reference knows nothing of."""
    tree = tree_of(memoryview(ending_with(WHOLE, "TANH")))
    tree["subgraphs"][0]["outputs"] = [4, 5]
    return write(tree)


def test_outputs_of_another_size_say_so() -> None:
    [output] = outlive.compare(WHOLE, narrower(), GIVEN).outputs
    assert output.metrics is None
    assert output.why == "it has 8 values (1x8), the reference's 16 values (1x16)"


def test_outputs_without_a_partner_say_so() -> None:
    drift = outlive.compare(WHOLE, with_another_end(), GIVEN)
    told = {row.name: row.why for row in drift.outputs}
    expected = "the reference has 1 output, the candidate 2, and none is its partner"
    assert told == {"layer1": "", "end": expected}


def test_models_without_anything_in_common_are_called_different() -> None:
    tree = tree_of(memoryview(narrower()))
    tree["operator_codes"] = [{"builtin_code": "TANH", "version": 1}]
    main_graph = tree["subgraphs"][0]
    main_graph["operators"] = [{"opcode_index": 0, "inputs": [0], "outputs": [2]}]
    main_graph["outputs"] = [2]
    drift = outlive.compare(WHOLE, write(tree), GIVEN)
    assert any("no operator of one model matches" in note for note in drift.notes)
    assert not any("no operator" in note for note in outlive.compare(WHOLE, WHOLE, GIVEN).notes)


def test_the_command_prints_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tflite").write_bytes(WHOLE)
    (tmp_path / "b.tflite").write_bytes(narrower())
    assert main(["compare", str(tmp_path / "a.tflite"), str(tmp_path / "b.tflite")]) == 0
    assert "it has 8 values (1x8), the reference's 16 values" in capsys.readouterr().out


def test_the_command_names_the_least_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tflite").write_bytes(WHOLE)
    words = ["compare", str(tmp_path / "a.tflite"), str(tmp_path / "a.tflite"), "--memory", "1KB"]
    assert main(words) == 2
    told = capsys.readouterr().err
    least = told.split("memory ")[-1].split()[0]
    assert main([*words[:-1], least]) == 0
