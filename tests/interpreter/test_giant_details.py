"""A file of a few bytes that names a huge tensor of scales: the caller takes no memory for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import outlive
from outlive.surgery import write


def with_scales(count: int) -> bytes:
    """A model whose input has blockwise scales in a tensor of `count` numbers that the file does not hold."""
    block = {
        "details_type": "BlockwiseQuantization",
        "details": {"scales": 1, "zero_points": -1, "block_size": 32},
    }
    tensors: list[dict[str, object]] = [
        {"name": "x", "shape": [8, 32], "type": "INT4", "quantization": block},
        {"name": "scales", "shape": [count], "type": "FLOAT16"},
        {"name": "y", "shape": [8, 32], "type": "INT4"},
    ]
    graph = {
        "tensors": tensors,
        "inputs": [0],
        "outputs": [2],
        "operators": [{"inputs": [0], "outputs": [2]}],
    }
    codes = [{"deprecated_builtin_code": 22, "builtin_code": "RESHAPE", "version": 1}]
    return write({"version": 3, "operator_codes": codes, "subgraphs": [graph], "buffers": [{}]})


PROGRAM = """
import resource, sys
import outlive

interpreter = outlive.Interpreter(model_path=sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    interpreter.get_input_details()
except outlive.RunError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error.finding.code)
"""


def test_the_caller_of_a_giant_takes_no_memory_for_it(tmp_path: Path) -> None:
    path = tmp_path / "giant.tflite"
    path.write_bytes(with_scales(20_000_000))
    assert path.stat().st_size < 640
    command = [sys.executable, "-c", PROGRAM, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    grown_kib, code = done.stdout.split()
    assert code == "D511"
    assert int(grown_kib) < 100_000  # the answer would take a gigabyte


@pytest.mark.parametrize("question", ["get_input_details", "get_tensor_details"])
def test_the_refusal_says_why_and_the_worker_lives_on(question: str) -> None:
    interpreter = outlive.Interpreter(model_content=with_scales(1_000_000))
    for _ in range(2):
        with pytest.raises(outlive.RunError, match=r"more than a file of [0-9]+ bytes can hold"):
            getattr(interpreter, question)()
    assert interpreter.get_output_details()[0]["name"] == "y"
    interpreter.close()


def test_scales_that_a_file_may_well_have_are_told() -> None:
    interpreter = outlive.Interpreter(model_content=with_scales(10_000))
    (row,) = interpreter.get_input_details()
    assert row["quantization_parameters"]["scales"].size == 10_000
    interpreter.close()
