"""Models to be cut: branches, packed weights, variables, control flow, things that only some files have."""

from __future__ import annotations

from typing import Any

import numpy as np

from outlive.surgery import write
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import Tree, tensor

FOUR = np.arange(4, dtype=np.float32).reshape(1, 4)


def branches() -> bytes:
    """x ─ relu(0) ─ a ─ neg(1) ─ b ─ add(3) ─ y, with c = abs(x) (2) as its other side; abs(4) is dead."""
    names = ("x", "a", "b", "c", "y", "dead", "offset")
    tensors = [tensor(name, "FLOAT32", [1, 4], buffer=1 if name == "offset" else 0) for name in names]
    steps = (
        op(0, [0], [1]),
        op(1, [1], [2]),
        op(2, [0], [3]),
        op(3, [2, 3], [4], "Add"),
        op(3, [1, 6], [5], "Add"),
    )
    signature = {
        "signature_key": "serving",
        "inputs": [{"name": "given", "tensor_index": 0}],
        "outputs": [{"name": "result", "tensor_index": 4}],
    }
    metadata = [
        {"name": "min_runtime_version", "buffer": 2},
        {"name": "OfflineMemoryAllocation", "buffer": 3},
    ]
    return model(
        ["RELU", "NEG", "ABS", "ADD"],
        graph(tensors, [0], [4], *steps),
        buffers=(FOUR, np.frombuffer(b"1.5.0\0", np.uint8), np.zeros(4, np.int32)),
        signature_defs=[signature],
        metadata=metadata,
        description="branches",
    )


def halved() -> bytes:
    """Weights in float16 that an operator unpacks, as converters write them."""
    tensors = [
        tensor("x", "FLOAT32", [1, 4]),
        tensor("packed", "FLOAT16", [2, 4], buffer=1),
        tensor("weights", "FLOAT32", [2, 4]),
        tensor("relu", "FLOAT32", [1, 4]),
        tensor("y", "FLOAT32", [1, 2]),
    ]
    steps = op(0, [1], [2]), op(1, [0], [3]), op(2, [3, 2, -1], [4], "FullyConnected")
    weights = np.arange(8, dtype=np.float16).reshape(2, 4)
    codes = ["DEQUANTIZE", "RELU", "FULLY_CONNECTED"]
    return model(codes, graph(tensors, [0], [4], *steps), buffers=(weights,))


def halved_twice() -> bytes:
    """Weights that two operators unpack, one after the other."""
    tensors = [
        tensor("x", "FLOAT32", [1, 4]),
        tensor("packed", "FLOAT16", [2, 4], buffer=1),
        tensor("dense", "FLOAT16", [2, 4]),
        tensor("weights", "FLOAT32", [2, 4]),
        tensor("y", "FLOAT32", [1, 2]),
    ]
    steps = op(0, [1], [2]), op(1, [2], [3]), op(2, [0, 3, -1], [4], "FullyConnected")
    weights = np.arange(8, dtype=np.float16).reshape(2, 4)
    codes = ["DENSIFY", "DEQUANTIZE", "FULLY_CONNECTED"]
    return model(codes, graph(tensors, [0], [4], *steps), buffers=(weights,))


def _handle(output: int) -> Tree:
    return op(0, [], [output], "VarHandle", shared_name="counter")


def counting() -> bytes:
    """A variable that is 5 at first: read, doubled, assigned, read again, and negated."""
    init = graph(
        [tensor("handle", "RESOURCE", []), tensor("five", "FLOAT32", [1], buffer=1)],
        [],
        [],
        _handle(0),
        op(1, [0, 1], []),
    )
    tensors = [
        tensor("handle", "RESOURCE", []),
        tensor("before", "FLOAT32", [1]),
        tensor("x", "FLOAT32", [1]),
        tensor("sum", "FLOAT32", [1]),
        tensor("after", "FLOAT32", [1]),
        tensor("y", "FLOAT32", [1]),
    ]
    main = graph(
        tensors,
        [2],
        [5],
        op(4, [], [], "CallOnce", init_subgraph_index=2),
        _handle(0),
        op(2, [0], [1]),
        op(3, [1, 2], [3], "Add"),
        op(1, [0, 3], []),
        op(2, [0], [4]),
        op(5, [4], [5]),
    )
    unused = graph([tensor("z", "FLOAT32", [1])], [0], [0])
    codes = ["VAR_HANDLE", "ASSIGN_VARIABLE", "READ_VARIABLE", "ADD", "CALL_ONCE", "NEG"]
    return model(codes, main, unused, init, buffers=(np.array([5], np.float32),))


def choosing() -> bytes:
    """RELU, then IF: x + x or x * x; a third subgraph that nobody calls lies between them."""
    pair = [tensor("p", "FLOAT32", [2]), tensor("q", "FLOAT32", [2])]
    tensors = [
        tensor("which", "BOOL", [1]),
        tensor("x", "FLOAT32", [2]),
        tensor("positive", "FLOAT32", [2]),
        tensor("y", "FLOAT32", [2]),
    ]
    main = graph(
        tensors,
        [0, 1],
        [3],
        op(0, [1], [2]),
        op(1, [0, 2], [3], "If", then_subgraph_index=1, else_subgraph_index=3),
    )
    added = graph(pair, [0], [1], op(2, [0, 0], [1], "Add"))
    uncalled = graph(pair, [0], [1], op(4, [0], [1]))
    squared = graph(pair, [0], [1], op(3, [0, 0], [1], "Mul"))
    return model(["RELU", "IF", "ADD", "MUL", "NEG"], main, added, uncalled, squared)


def tree_of_oddities() -> Tree:
    """One of everything that must survive: it need not run."""
    tensors = [
        tensor("x", "FLOAT32", [1, 4]),
        tensor("scales", "FLOAT16", [4], buffer=1),
        tensor(
            "blockwise",
            "INT4",
            [4, 4],
            buffer=2,
            quantization={
                "details_type": "BlockwiseQuantization",
                "details": {"scales": 1, "zero_points": -1, "block_size": 4},
            },
        ),
        tensor("sparse", "FLOAT32", [2, 2], buffer=3, sparsity=_sparsity()),
        tensor("elsewhere", "FLOAT32", [4], external_buffer=7),
        tensor("middle", "FLOAT32", [4, 4], quantization={"scale": [0.5, 0.25], "zero_point": [0, 0]}),
        tensor("hint", "FLOAT32", [1], quantization={"min": [-1.0], "max": [1.0]}),
        tensor("y", "FLOAT32", [4, 4], shape_signature=[-1, 4]),
    ]
    custom: dict[str, Any] = {
        "opcode_index": 1,
        "inputs": [5, 2, 3, 4, -1],
        "outputs": [7],
        "custom_options": b"\x01\x02options",
        "intermediates": [6],
        "mutating_variable_inputs": [False, True, False, False, False],
        "debug_metadata_index": 4,
    }
    edges = bytes([1, 1, 2, 1, 0, 0, 2])  # version, subgraphs, pairs: from the start to 0, and 0 to 1
    return {
        "version": 3,
        "operator_codes": [
            {"builtin_code": "RELU"},
            {"builtin_code": "CUSTOM", "deprecated_builtin_code": 32, "custom_code": "Odd", "version": 2},
        ],
        "subgraphs": [graph(tensors, [0], [7], op(0, [0], [5]), custom)],
        "buffers": [
            {},
            {"data": np.ones(4, np.float16)},
            {"data": bytes(8)},
            {"data": np.ones(2, np.float32)},
            {"data": edges},
            {"data": b"unused constant"},
        ],
        "metadata": [{"name": "model_control_dependencies", "buffer": 4}],
        "external_buffer_groups": [{"name": "unused.bin"}, {"name": "weights.bin"}],
        "external_buffers": [
            {"id": 3, "group": 0, "offset": 0, "length": 16},
            {"id": 7, "group": 1, "offset": 64, "length": 16, "packing": "none"},
        ],
    }


def _sparsity() -> Tree:
    row = {
        "format": "SPARSE_CSR",
        "array_segments_type": "Uint8Vector",
        "array_segments": {"values": [0, 1, 2]},
        "array_indices_type": "Int32Vector",
        "array_indices": {"values": [0, 1]},
    }
    return {"traversal_order": [0, 1], "dim_metadata": [{"format": "DENSE", "dense_size": 2}, row]}


def oddities(outside: bool = False) -> bytes:
    """The bytes of it, constants inside the FlatBuffer or behind it."""
    return write(tree_of_oddities(), outside=outside)
