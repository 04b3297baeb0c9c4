"""On models made for it, LiteRT loads what our reader finds no flaw in, and both see the same in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outlive.model import read_source
from outlive.model.schema import load_schema
from outlive.surgery import write
from outlive.units import tensor_bytes
from tests.against_runtime.agreement import differences
from tests.against_runtime.conftest import ask
from tests.model.small import Tree, build, flaws, tensor, tree

TYPES = sorted(load_schema().enums["TensorType"].names.values())
LOAD = """
import sys
from ai_edge_litert.interpreter import Interpreter, OpResolverType
for path in sys.argv[1:]:
    try:
        Interpreter(path, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        print("loads")
    except (ValueError, RuntimeError):
        print("refused")
"""
SCALES = {"data": np.array([1.5, 2.5], np.float32)}
ZERO_POINTS = {"data": np.array([3, 4], np.int32)}
MINE = {"builtin_code": "CUSTOM", "custom_code": "Mine"}
DENSE = {"format": "DENSE", "dense_size": 4}
ROWS = {
    "format": "SPARSE_CSR",
    "array_segments_type": "Uint8Vector",
    "array_segments": {"values": [0, 1, 1, 1, 2]},
    "array_indices_type": "Uint16Vector",
    "array_indices": {"values": [2, 3]},
}


def quantized(**quantization: Any) -> bytes:
    tensors = [tensor("scales", buffer=1), tensor("zero points", "INT32", buffer=2)]
    subject = tensor("x", "INT8", (2, 4), quantization=quantization)
    return build([*tensors, subject], [SCALES, ZERO_POINTS])


def details(kind: str, **fields: Any) -> dict[str, Any]:
    return {"details_type": f"{kind}Quantization", "details": fields}


def sparse(**sparsity: Any) -> bytes:
    return build([tensor("x", "INT8", (4, 4), buffer=1, sparsity=sparsity)], [{"data": b"\1\2"}])


def operator(code: Tree | None = None, **fields: Any) -> bytes:
    row = {"inputs": [0], "outputs": [1], **fields}
    return build([tensor("x"), tensor("y")], operators=[row], codes=[code or {"builtin_code": "RELU"}])


def bare(**main: Any) -> bytes:
    return write({"version": 3, "operator_codes": [], "buffers": [{}], "subgraphs": [main]})


BLOCKS = {"scales": 0, "zero_points": 1, "block_size": 2}
LOADED = {
    "every type": build([tensor(kind.lower(), kind, (2, 3)) for kind in TYPES]),
    "every type, with a signature": build([tensor(k, k, (2, 3), shape_signature=[-1, 3]) for k in TYPES]),
    "a scalar": build([{"name": "x"}]),
    "no name": build([{"shape": [1]}]),
    "names of other alphabets": build([tensor("größe/寸法/📏")]),
    "an empty signature": build([tensor(shape_signature=[])]),
    "a signature of another rank": build([tensor(shape_signature=[-1, -1])]),
    "a variable": build([tensor(is_variable=True)]),
    "a dimension of zero": build([tensor(shape=(0, 3), buffer=1)], [{"data": b""}]),
    "one scale": quantized(scale=[0.5], zero_point=[3]),
    "a scale per channel": quantized(scale=[0.5, 0.25, 1, 2], zero_point=[3, 4, 5, 6], quantized_dimension=1),
    "a zero point and no scale": quantized(zero_point=[5]),
    "a range": quantized(min=[-1.0], max=[1.0]),
    "a range and a scale": quantized(min=[-1.0], max=[1.0], scale=[0.1], zero_point=[-3]),
    "an axis and nothing else": quantized(quantized_dimension=1),
    "blocks": quantized(**details("Blockwise", **BLOCKS), quantized_dimension=1),
    "blocks without zero points": quantized(**details("Blockwise", **BLOCKS | {"zero_points": -1})),
    "blocks and a scale": quantized(scale=[0.5], zero_point=[3], **details("Blockwise", **BLOCKS)),
    "several axes": quantized(**details("MultiAxis", **BLOCKS, quantized_dimensions=[0, 1])),
    "custom": quantized(**details("Custom", custom=b"abc")),
    "custom and a scale": quantized(scale=[0.5], zero_point=[3], **details("Custom", custom=b"abc")),
    "sparse": sparse(traversal_order=[0, 1], dim_metadata=[DENSE, ROWS]),
    "sparse in blocks": sparse(traversal_order=[0, 1, 2], block_map=[1], dim_metadata=[DENSE, DENSE, ROWS]),
    "a constant": build([tensor(buffer=1)], [{"data": np.array([1, 2], np.float32)}]),
    "a constant outside": build([tensor(buffer=1)], [{"data": np.array([1, 2], np.float32)}], outside=True),
    "an offset of 1, which is none": build([tensor(buffer=1)], [{"offset": 1, "size": 8}]),
    "data and an offset": build([tensor(buffer=1)], [{"data": bytes(8), "offset": 4, "size": 8}]),
    "data in buffer 0": write(tree([tensor(buffer=0)]) | {"buffers": [{"data": bytes(8)}]}),
    "no operators, inputs and outputs": bare(tensors=[tensor()]),
    "the old code field": operator({"deprecated_builtin_code": 19}),
    "the new code field": operator({"deprecated_builtin_code": 127, "builtin_code": "GELU"}),
    "two codes": operator({"deprecated_builtin_code": 22, "builtin_code": "RELU"}),
    "a negative old code": operator({"deprecated_builtin_code": -3}),
    "a name on a builtin": operator({"builtin_code": "RELU", "custom_code": "Mine"}),
    "a custom operator": operator(MINE, custom_options=b"abc"),
    "custom options outside": operator(MINE, large_custom_options_offset=16, large_custom_options_size=4),
    "a left-out input": operator(inputs=[-1, 0]),
    "options of another operator": operator(builtin_options_type="Conv2DOptions", builtin_options={}),
    "signatures": build(
        signature_defs=[
            {"signature_key": "a", "inputs": [{"name": "p", "tensor_index": 0}], "outputs": []},
            {"signature_key": "b"},
        ]
    ),
}
REFUSED = {
    "another schema version": build(version=2),
    "no subgraph": write({"version": 3, "operator_codes": [], "buffers": [{}], "subgraphs": []}),
    "no tensors": bare(operators=[]),
    "an unknown type": build([tensor(kind=77)]),
    "a negative dimension": build([tensor(shape=(-1, 3))]),
    "a buffer that is not there": build([tensor(buffer=9)]),
    "an empty constant": build([tensor(buffer=1)], [{"data": b""}]),
    "an empty constant outside": build([tensor(buffer=1)], [{"offset": 2, "size": 0}]),
    "a constant past the end": build([tensor(buffer=1)], [{"offset": 100_000, "size": 8}]),
    "an unknown operator": operator({"builtin_code": 4000}),
    "a custom operator without a name": operator({"builtin_code": "CUSTOM"}),
    "a code that is not there": operator(opcode_index=3),
    "custom options past the end": operator(
        MINE, large_custom_options_offset=16, large_custom_options_size=400
    ),
    "a signature without a name": build(signature_defs=[{"inputs": [], "outputs": []}]),
}


@pytest.mark.parametrize("name", LOADED)
def test_what_has_no_flaw_loads_and_looks_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(LOADED[name])
    reading, answer = read_source(path), ask(path)
    assert flaws(reading) == []
    assert reading.model is not None
    assert answer.runtime is not None, answer.ended
    assert "refused" not in answer.runtime
    assert differences(reading.model, answer.runtime) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_litert_refuses_has_a_flaw(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(REFUSED[name])
    answer = ask(path)
    assert answer.runtime is not None, answer.ended
    assert "refused" in answer.runtime
    assert flaws(read_source(path)) != []


def test_an_offset_that_wraps_around_is_a_flaw_where_litert_follows_it(tmp_path: Path) -> None:
    """It reads in front of the file, and dies of it unless something happens to lie there."""
    path = tmp_path / "model.tflite"
    path.write_bytes(build([tensor(buffer=1)], [{"offset": 2**64 - 8, "size": 16}]))
    answers = ask(path)
    assert answers.runtime is not None or answers.ended.startswith("-11"), answers
    assert [flaw.kind for flaw in read_source(path).flaws] == ["outside-buffer"]


def test_a_constant_needs_as_many_bytes_as_litert_asks_for(tmp_path: Path) -> None:
    """Nine elements, so that the types smaller than a byte do not fill their last one."""
    sizes = {kind: tensor_bytes((3, 3), kind.lower()) for kind in TYPES}
    assert {kind for kind, size in sizes.items() if size is None} == {"RESOURCE", "STRING", "VARIANT"}
    paths, expected = [], []
    for kind, enough in sizes.items():
        for size in (0, 4) if enough is None else (enough, enough - 1):
            paths.append(tmp_path / f"{kind}_{size}.tflite")
            paths[-1].write_bytes(build([tensor("x", kind, (3, 3), buffer=1)], [{"data": bytes(size)}]))
            expected.append([] if enough is None or size == enough else ["short-constant"])
    command = [sys.executable, "-c", LOAD, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["refused" if kinds else "loads" for kinds in expected]
    assert [[flaw.kind for flaw in read_source(path).flaws] for path in paths] == expected


@pytest.mark.parametrize(
    ("last_act", "ended"),
    [("time.sleep(60)", "no answer in 2 s"), ("os.abort()", "-6: "), ("sys.exit(3)", "3: ")],
)
def test_a_model_that_kills_or_hangs_the_probe_costs_only_itself(
    last_act: str, ended: str, tmp_path: Path
) -> None:
    probe = tmp_path / "probe.py"
    probe.write_text(
        f"import os, sys, time\nprint('{{}}', flush=True)\nprint('[1,', end='', flush=True)\n{last_act}\n"
    )
    answer = ask(tmp_path / "model.tflite", probe, timeout_s=2)
    assert (answer.schema, answer.runtime, answer.ended) == ({}, None, ended)
