"""The writer against LiteRT's own schema and runtime, which run in processes of their own."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outlive.surgery import write

SCHEMA = json.loads((Path(__file__).parents[2] / "src/outlive/model/schema.json").read_text())

UNPACK = """
import json, sys
import numpy as np
from ai_edge_litert import schema_py_generated as schema

def plain(value):
    if hasattr(value, "__dict__"):
        return {key: plain(item) for key, item in vars(value).items()}
    if isinstance(value, (list, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value.decode() if isinstance(value, bytes) else value

data = open(sys.argv[1], "rb").read()
assert schema.Model.ModelBufferHasIdentifier(data, 0)
print(json.dumps(plain(schema.ModelT.InitFromPackedBuf(data, 0))))
"""

RUN = """
import json, sys
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
for resolver in (OpResolverType.AUTO, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
    interpreter = Interpreter(sys.argv[1], experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    entry = interpreter.get_input_details()[0]
    interpreter.set_tensor(entry["index"], np.arange(8, dtype=np.float32).reshape(1, 8))
    interpreter.invoke()
    print(json.dumps(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist()))
"""


def child(program: str, model: bytes, folder: Path) -> list[Any]:
    path = folder / "model.tflite"
    path.write_bytes(model)
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Samples:
    """A tree in which every field has a value of its own and every union has been each of its tables."""

    def __init__(self) -> None:
        self._count: Iterator[int] = itertools.count(2)

    def table(self, name: str, turn: int = 0) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        for field, written, *_ in SCHEMA["tables"][name]:
            tree[field] = self.value(written, turn)
        return tree

    def value(self, written: str, turn: int) -> Any:
        if written.startswith("["):
            element = written[1:-1]
            return [self.value(element, turn) for turn in range(self.turns(element))]
        if written.startswith("union"):
            kind, union = written.split()
            member = 1 + turn % (len(SCHEMA["unions"][union]) - 1)
            return member if kind == "union-tag" else self.table(SCHEMA["unions"][union][member], turn)
        if written in SCHEMA["enums"]:
            return max(SCHEMA["enums"][written]["values"].values())
        return self.table(written, turn) if written in SCHEMA["tables"] else self.scalar(written)

    def turns(self, element: str) -> int:
        fields = SCHEMA["tables"].get(element, [])
        unions = [written.split()[1] for _, written, *_ in fields if written.startswith("union ")]
        return max([3, *(len(SCHEMA["unions"][union]) - 1 for union in unions)])

    def scalar(self, written: str) -> Any:
        number = next(self._count)
        makers: dict[str, Callable[[], Any]] = {
            "string": lambda: f"näme/{number}",
            "bool": lambda: False,
            "float32": lambda: -number / 4,
            "int64": lambda: -number * 2**33,
            "uint64": lambda: 2**64 - number,
            "uint32": lambda: 2**32 - number,
            "int32": lambda: -number,
        }
        return makers.get(written, lambda: number % 120)()


# Deprecated fields, for which LiteRT's generated code has no attribute.
DEPRECATED = {"new_height", "new_width", "deprecated_tag"}


def differences(unpacked: Any, tree: Any, path: str = "") -> list[str]:
    """Where LiteRT reads another value than was written; fields of a newer LiteRT do not count."""
    if isinstance(tree, Mapping):
        pairs = [(unpacked.get(camel(k)), v, f"{path}.{k}") for k, v in tree.items() if k not in DEPRECATED]
    elif isinstance(tree, list):
        pairs = [(u, t, f"{path}[]") for u, t in itertools.zip_longest(unpacked, tree)]
    else:
        return [] if unpacked == tree else [f"{path}: {tree!r} was read as {unpacked!r}"]
    return [difference for pair in pairs for difference in differences(*pair)]


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def perceptron(weights: Any) -> dict[str, Any]:
    tensors = [
        {"name": "in", "shape": [1, 8], "shape_signature": [-1, 8], "buffer": 0},
        {"name": "weights", "shape": [4, 8], "buffer": 1},
        {"name": "bias", "shape": [4], "buffer": 2},
        {"name": "out", "shape": [1, 4], "buffer": 0},
    ]
    operators = [
        {
            "inputs": [0, 1, 2],
            "outputs": [3],
            "builtin_options_type": "FullyConnectedOptions",
            "builtin_options": {"fused_activation_function": "RELU"},
        }
    ]
    bias = np.array([1, 2, 3, 4], np.float32)
    return {
        "version": 3,
        "operator_codes": [{"deprecated_builtin_code": 9, "builtin_code": "FULLY_CONNECTED"}],
        "subgraphs": [{"tensors": tensors, "inputs": [0], "outputs": [3], "operators": operators}],
        "buffers": [{}, {"data": weights}, {"data": bias}, {"data": b"1.5.0"}],
        "metadata": [{"name": "min_runtime_version", "buffer": 3}],
    }


WEIGHTS = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)


def test_every_field_of_every_table_reads_back_in_litert(tmp_path: Path) -> None:
    tree = Samples().table("Model")
    [unpacked] = child(UNPACK, write(tree), tmp_path)
    assert differences(unpacked, tree) == []


def test_absent_fields_read_back_as_defaults(tmp_path: Path) -> None:
    tree = {"subgraphs": [{"operators": [{}], "tensors": None}], "operator_codes": [{}]}
    [unpacked] = child(UNPACK, write(tree), tmp_path)
    assert unpacked["buffers"] is None
    assert unpacked["subgraphs"][0]["tensors"] is None
    assert unpacked["operatorCodes"][0] == {
        "deprecatedBuiltinCode": 0, "customCode": None, "version": 1, "builtinCode": 0,
    }  # fmt: skip


def test_names_and_numbers_and_every_form_of_a_vector_give_the_same_bytes() -> None:
    def tree(shape: Any, kind: Any, data: Any, tag: Any) -> dict[str, Any]:
        details = {"details_type": tag, "details": {"custom": data}}
        return {"subgraphs": [{"tensors": [{"shape": shape, "type": kind, "quantization": details}]}]}

    shape = np.array([1, 300], np.int32)
    expected = write(tree([1, 300], "INT8", [1, 0, 2, 0], "CustomQuantization"))
    for other_shape, data in (
        ((1, 300), b"\1\0\2\0"),
        (shape, np.array([1, 2], np.int16)),
        (shape.astype(">i8"), np.array([1, 2], ">u2")),
        (shape.tobytes(), memoryview(b"\1\0\2\0")),
        (memoryview(shape.tobytes()), bytearray(b"\1\0\2\0")),
        (np.array([1, 0, 300], np.uint64)[::2], np.array([[1, 9, 0], [2, 9, 0]], np.uint8)[:, ::2]),
    ):
        assert write(tree(other_shape, np.int8(9), data, 1)) == expected


def test_sparse_indices_are_numbers_whatever_the_type_of_the_array() -> None:
    def tree(values: Any) -> dict[str, Any]:
        indices = {"array_indices_type": "Uint8Vector", "array_indices": {"values": values}}
        return {"subgraphs": [{"tensors": [{"sparsity": {"dim_metadata": [indices]}}]}]}

    assert write(tree(np.array([1, 2, 3]))) == write(tree([1, 2, 3]))


@pytest.mark.parametrize("outside", [False, True])
def test_constants_start_at_multiples_of_sixteen(outside: bool) -> None:
    marks = [bytes([65 + size]) * (size + 20) for size in range(20)]
    buffers = [{"data": mark} for mark in marks]
    quantization = {"details_type": "CustomQuantization", "details": {"custom": b"custom quantization"}}
    tensors = [{"name": "x" * size} for size in range(5)] + [{"quantization": quantization}]
    data = write({"buffers": buffers, "subgraphs": [{"tensors": tensors}]}, outside=outside)
    places = [data.index(mark) for mark in [*marks, b"custom quantization"]]
    assert {place % 16 for place in places} == {0}


def test_sparse_vectors_start_at_multiples_of_four() -> None:
    for size in range(1, 6):
        vector = {"array_indices_type": "Uint8Vector", "array_indices": {"values": b"\xee" * (size + 8)}}
        tree = {"subgraphs": [{"name": "n" * size, "tensors": [{"sparsity": {"dim_metadata": [vector]}}]}]}
        assert write(tree).index(b"\xee" * (size + 8)) % 4 == 0


def test_constants_outside_give_the_same_results(tmp_path: Path) -> None:
    tree = perceptron(WEIGHTS)
    inside, outside = write(tree), write(tree, outside=True)
    [unpacked] = child(UNPACK, outside, tmp_path)
    weights, bias, metadata = unpacked["buffers"][1:]
    assert outside[weights["offset"] : weights["offset"] + weights["size"]] == WEIGHTS.tobytes()
    assert weights["data"] is None
    assert bias["offset"] + bias["size"] == len(outside)
    assert bytes(metadata["data"]) == b"1.5.0"
    expected = np.maximum(np.arange(8) @ WEIGHTS.T.astype(np.float64) + [1, 2, 3, 4], 0)
    for model in (inside, outside):
        default, builtin = child(RUN, model, tmp_path)
        np.testing.assert_allclose(default, [expected], rtol=1e-6)
        np.testing.assert_allclose(builtin, [expected], rtol=1e-6)


def test_the_order_of_keys_and_a_second_run_change_nothing() -> None:
    tree = Samples().table("Model")
    backwards = dict(reversed(tree.items()))
    assert write(tree) == write(tree) == write(backwards)


@pytest.mark.parametrize("outside", [False, True])
def test_large_constants_are_copied_in_bulk(outside: bool) -> None:
    size = 64 * 2**20
    tree = {"version": 3, "buffers": [{}, {"data": np.zeros(size // 4, np.float32)}]}
    tracemalloc.start()
    try:
        assert len(write(tree, outside=outside)) > size
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * size
