"""Models of one operator each, for the operators whose kernels ask for temporaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from outlive.surgery import write

Tree = dict[str, Any]
Case = tuple[str, bytes]
_WIDTH: dict[str, Any] = {
    "INT4": np.uint8,
    "INT2": np.uint8,
    "UINT8": np.uint8,
    "INT8": np.int8,
    "INT16": np.int16,
}
_WIDTH |= {
    "INT32": np.int32,
    "INT64": np.int64,
    "FLOAT32": np.float32,
    "FLOAT16": np.float16,
    "BOOL": np.bool_,
}
_PACKED = {"INT4": 2, "INT2": 4}


@dataclass(frozen=True)
class Given:
    """A tensor of a model: an input of the graph unless it is a constant, a variable or computed."""

    kind: str
    shape: Sequence[int]
    constant: bool = False
    values: Sequence[int] | None = None  # of a constant; zeros if there are none
    scales: Sequence[float] = ()
    axis: int = 0
    variable: bool = False
    sparsity: Tree | None = None
    computed: bool = False
    signature: Sequence[int] | None = None
    stored: int | None = None  # elements of a sparse constant


def given(kind: str, *shape: int, **more: Any) -> Given:
    return Given(kind, shape, **more)


def constant(kind: str, *shape: int, **more: Any) -> Given:
    return Given(kind, shape, constant=True, **more)


def numbers(*values: int, kind: str = "INT32") -> Given:
    """A constant vector."""
    return Given(kind, (len(values),), constant=True, values=values)


def scalar(value: int, kind: str = "INT32") -> Given:
    return Given(kind, (), constant=True, values=(value,))


def graph(
    tensors: Sequence[Given], operators: Sequence[Tree], outputs: Sequence[int], first_buffer: int = 1
) -> Tree:
    """One subgraph; its constants are `buffers_of(tensors)`, from this buffer on."""
    trees = []
    buffer = first_buffer
    for index, each in enumerate(tensors):
        trees.append(_tensor(index, each, buffer if each.constant else 0))
        buffer += each.constant
    fed = [i for i, each in enumerate(tensors) if not (each.constant or each.variable or each.computed)]
    inputs = [index for index in fed if index not in outputs]
    return {"tensors": trees, "inputs": inputs, "outputs": list(outputs), "operators": list(operators)}


def _tensor(index: int, each: Given, buffer: int) -> Tree:
    tree: Tree = {"name": f"t{index}", "type": each.kind, "shape": list(each.shape), "buffer": buffer}
    if each.scales:
        zeros = [0] * len(each.scales)
        tree["quantization"] = {
            "scale": list(each.scales),
            "zero_point": zeros,
            "quantized_dimension": each.axis,
        }
    if each.variable:
        tree["is_variable"] = True
    if each.sparsity:
        tree["sparsity"] = each.sparsity
    if each.signature is not None:
        tree["shape_signature"] = list(each.signature)
    return tree


def buffers_of(tensors: Sequence[Given]) -> list[Tree]:
    return [{"data": _content(each)} for each in tensors if each.constant]


def _content(each: Given) -> Any:
    if each.values is not None:
        return np.asarray(each.values, _WIDTH[each.kind])
    count = each.stored if each.stored is not None else int(np.prod(each.shape))
    return np.zeros(-(-count // _PACKED.get(each.kind, 1)), _WIDTH[each.kind])


def single(
    code: str,
    inputs: Sequence[Given | None],
    outputs: Sequence[Given],
    options: str = "",
    *,
    intermediates: Sequence[Given] = (),
    custom: bytes | None = None,
    more: Mapping[str, Any] | None = None,
    **fields: Any,
) -> bytes:
    """One operator; None is an input left out."""
    present = [each for each in inputs if each is not None]
    places = iter(range(len(present)))
    reads = [-1 if each is None else next(places) for each in inputs]
    results = range(len(present), len(present) + len(outputs))
    between = range(results.stop, results.stop + len(intermediates))
    operator: Tree = {"opcode_index": 0, "inputs": reads, "outputs": list(results), **(more or {})}
    if intermediates:
        operator["intermediates"] = list(between)
    if options:
        operator |= {"builtin_options_type": f"{options}Options", "builtin_options": fields}
    if custom is not None:
        operator["custom_options"] = custom
    tensors = [
        *present,
        *outputs,
        *(Given(i.kind, i.shape, scales=i.scales, computed=True) for i in intermediates),
    ]
    return model([code], [graph(tensors, [operator], list(results))], [tensors])


def model(codes: Sequence[str], graphs: Sequence[Tree], tensors: Sequence[Sequence[Given]]) -> bytes:
    """The bytes; a code in lower case or mixed is a custom operator's."""
    kinds = [_code(code) for code in codes]
    buffers = [{}, *(buffer for group in tensors for buffer in buffers_of(group))]
    return write({"version": 3, "operator_codes": kinds, "buffers": buffers, "subgraphs": list(graphs)})


def _code(code: str) -> Tree:
    if not code.isupper():
        return {"builtin_code": "CUSTOM", "custom_code": code}
    return {"builtin_code": code, "version": 2 if code == "BROADCAST_TO" else 1}


def step(code: int, inputs: Sequence[int], outputs: Sequence[int], options: str = "", **fields: Any) -> Tree:
    """One operator of several."""
    chosen = {"builtin_options_type": f"{options}Options", "builtin_options": fields} if options else {}
    return {"opcode_index": code, "inputs": list(inputs), "outputs": list(outputs), **chosen}


def sparse(rows: int, columns: int) -> Tree:
    """Every row has one element, in the first column."""
    return {
        "traversal_order": [0, 1],
        "dim_metadata": [
            {"format": "DENSE", "dense_size": rows},
            {
                "format": "SPARSE_CSR",
                "array_segments_type": "Int32Vector",
                "array_segments": {"values": list(range(rows + 1))},
                "array_indices_type": "Int32Vector",
                "array_indices": {"values": [0] * rows},
            },
        ],
    }
