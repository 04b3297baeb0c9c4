"""Plants one fault in the middle of a sound model: what a diagnosis must then find, and where.

A planter changes the tree of a model at one operator; `plants(model)` tries each kind at the operator nearest
to the middle that it fits, or, with a seed, at operators in random order. The operators that touch what was
changed count as its place. The kinds in `unbuilt_faults.py` were not used while the diagnosis was built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from outlive.model import Model
from outlive.surgery import tree_of, write

Tree = dict[str, Any]
# Gives the operators at which the fault can be seen, or None if it does not fit this operator.
Planter = Callable[[Tree, Model, int], "set[int] | None"]
_CONVOLVING = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
_STRIDED = ("CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D")
_MANY_BYTES = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A model with one fault: its bytes, the cause, and the operators that may be named for it."""

    cause: str
    data: bytes
    ops: frozenset[int]


def plants(
    model: Model, planters: Mapping[str, Planter], rng: np.random.Generator | None = None
) -> Iterator[Plant]:
    """One model for each kind of fault that fits: somewhere near the middle, or anywhere if chance decides.

    A planter is named by its cause; what follows a colon tells kinds of one cause apart.
    """
    count = len(model.subgraphs[0].operators)
    middle = sorted(range(1, count), key=lambda index: abs(index - count // 2))
    whole = tree_of(model.content)
    for name, planter in planters.items():
        order = middle if rng is None else [int(place) for place in rng.permutation(np.arange(1, count))]
        tree = _copied(whole)  # a planter that does not fit changes nothing
        fitting = ((index, planter(tree, model, index)) for index in order)
        touched = next((ops for _, ops in fitting if ops is not None), None)
        if touched is not None:
            cause = name.partition(":")[0]
            yield Plant(cause=cause, data=_written(tree), ops=frozenset(touched))


def _written(tree: Tree) -> bytes:
    """The file; a buffer that is to lie outside it is pointed there after writing."""
    lost = tree.pop("lost", None)
    if lost is None:
        return write(tree)
    tree["buffers"][lost] |= {"data": None, "offset": _MANY_BYTES, "size": 1 << 20}
    return write(tree)


def _copied(value: Any) -> Any:
    """A copy of tables and lists that shares only the weights, which no planter changes."""
    if isinstance(value, dict):
        return {name: _copied(item) for name, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def op_row(tree: Tree, index: int) -> Tree:
    """An operator in the tree."""
    found: Tree = tree["subgraphs"][0]["operators"][index]
    return found


def tensor_row(tree: Tree, index: int) -> Tree:
    """A tensor in the tree."""
    found: Tree = tree["subgraphs"][0]["tensors"][index]
    return found


def touching(model: Model, tensor: int) -> set[int]:
    """The operators that read or write a tensor."""
    return {op.index for op in model.subgraphs[0].operators if tensor in (*op.inputs, *op.outputs)}


def activation(model: Model, index: int, *dtypes: str) -> int | None:
    """The first output of an operator, if it is in between others and of one of these types."""
    graph = model.subgraphs[0]
    outputs = graph.operators[index].outputs
    if not outputs or outputs[0] in graph.output_indices or outputs[0] < 0:
        return None
    read = any(outputs[0] in op.inputs for op in graph.operators[index + 1 :])
    return outputs[0] if read and graph.tensors[outputs[0]].dtype in dtypes else None


def _drop_output(tree: Tree, model: Model, index: int) -> set[int] | None:
    if model.subgraphs[0].operators[index].type not in (
        "ADD",
        "MUL",
        "SUB",
        "SOFTMAX",
        "LOGISTIC",
        *_STRIDED,
    ):
        return None
    op_row(tree, index)["outputs"] = []
    return {index}


def _no_input(tree: Tree, model: Model, index: int) -> set[int] | None:
    operator = model.subgraphs[0].operators[index]
    if operator.is_custom or not operator.inputs:
        return None
    op_row(tree, index)["inputs"] = [-1, *operator.inputs[1:]]
    return {index}


def _bad_scale(tree: Tree, model: Model, index: int) -> set[int] | None:
    tensor = activation(model, index, "int8", "uint8", "int16")
    if tensor is None or not (tensor_row(tree, tensor)["quantization"] or {}).get("scale"):
        return None
    tensor_row(tree, tensor)["quantization"]["scale"] = [math.inf]
    return touching(model, tensor)


def _no_scale(tree: Tree, model: Model, index: int) -> set[int] | None:
    tensor = activation(model, index, "int8", "uint8", "int16")
    if tensor is None:
        return None
    tensor_row(tree, tensor)["quantization"] = None
    return touching(model, tensor)


def _far_zero_point(tree: Tree, model: Model, index: int) -> set[int] | None:
    tensor = activation(model, index, "int8", "uint8")
    if tensor is None or not (tensor_row(tree, tensor)["quantization"] or {}).get("zero_point"):
        return None
    tensor_row(tree, tensor)["quantization"]["zero_point"] = [100_000]
    return touching(model, tensor)


def _other_type(tree: Tree, model: Model, index: int) -> set[int] | None:
    tensor = activation(model, index, "float32", "int8")
    if tensor is None or model.subgraphs[0].operators[index].type not in ("ADD", "MUL", "SUB", *_STRIDED):
        return None
    tensor_row(tree, tensor)["type"] = "INT32"
    return touching(model, tensor)


def filter_of(model: Model, index: int) -> int | None:
    """The constant weights of an operator that has some."""
    operator = model.subgraphs[0].operators[index]
    if operator.type not in _CONVOLVING or operator.inputs[1] < 0:
        return None
    tensor = model.subgraphs[0].tensors[operator.inputs[1]]
    return tensor.index if tensor.is_constant else None


def _flat_filter(tree: Tree, model: Model, index: int) -> set[int] | None:
    tensor = filter_of(model, index)
    if tensor is None:
        return None
    tensor_row(tree, tensor)["shape"] = [math.prod(model.subgraphs[0].tensors[tensor].shape)]
    return touching(model, tensor)


def _empty_filter(tree: Tree, model: Model, index: int) -> set[int] | None:
    tensor = filter_of(model, index)
    if tensor is None:
        return None
    tensor_row(tree, tensor)["shape"] = [0, *model.subgraphs[0].tensors[tensor].shape[1:]]
    return touching(model, tensor)


def _no_stride(tree: Tree, model: Model, index: int) -> set[int] | None:
    operator = op_row(tree, index)
    if model.subgraphs[0].operators[index].type not in _STRIDED or not operator["builtin_options"]:
        return None
    operator["builtin_options"] |= {"stride_w": 0, "stride_h": 0}
    return {index}


def _no_options(tree: Tree, model: Model, index: int) -> set[int] | None:
    operator = op_row(tree, index)
    if model.subgraphs[0].operators[index].type not in (*_STRIDED, "SOFTMAX", "CONCATENATION", "SPLIT"):
        return None
    operator["builtin_options"], operator["builtin_options_type"] = None, "NONE"
    return {index}


def _lost_weights(tree: Tree, model: Model, index: int) -> set[int] | None:
    tensor = filter_of(model, index)
    if tensor is None:
        return None
    tree["lost"] = model.subgraphs[0].tensors[tensor].buffer_index
    return touching(model, tensor)


def _own_input(tree: Tree, model: Model, index: int) -> set[int] | None:
    operator = model.subgraphs[0].operators[index]
    if operator.type not in ("ADD", "MUL", *_STRIDED) or activation(model, index, "float32", "int8") is None:
        return None
    if operator.inputs[0] < 0 or model.subgraphs[0].tensors[operator.inputs[0]].is_constant:
        return None
    op_row(tree, index)["outputs"] = [operator.inputs[0]]
    return {index}


def _strange(tree: Tree, model: Model, index: int) -> set[int] | None:
    if model.subgraphs[0].operators[index].is_custom:
        return None
    tree["operator_codes"].append(
        {"builtin_code": "CUSTOM", "deprecated_builtin_code": 32, "custom_code": "Odd"}
    )
    op_row(tree, index)["opcode_index"] = len(tree["operator_codes"]) - 1
    return {index}


def _wild_axis(tree: Tree, model: Model, index: int) -> set[int] | None:
    """A constant that says where, far outside: the axes of a reduction, the order of a transposition."""
    operator = model.subgraphs[0].operators[index]
    if operator.type not in ("MEAN", "SUM", "REDUCE_MAX", "TRANSPOSE", "SPLIT", "PAD"):
        return None
    slot = 0 if operator.type == "SPLIT" else 1
    tensor = model.subgraphs[0].tensors[operator.inputs[slot]]
    if tensor.data is None or tensor.dtype != "int32":
        return None
    wild = np.full(max(1, math.prod(tensor.shape)), -99 if operator.type == "PAD" else 99, np.int32)
    tree["buffers"].append({"data": wild.tobytes()})
    tensor_row(tree, tensor.index)["buffer"] = len(tree["buffers"]) - 1
    return touching(model, tensor.index)


# By the word of the taxonomy that a diagnosis must find.
PLANTERS: dict[str, Planter] = {
    "op-arity": _drop_output,
    "required-tensor-missing": _no_input,
    "quant-scale-invalid": _bad_scale,
    "quant-params-missing": _no_scale,
    "quant-zero-point-out-of-range": _far_zero_point,
    "tensor-type-mismatch": _other_type,
    "rank-mismatch": _flat_filter,
    "zero-size-dimension": _empty_filter,
    "option-out-of-range": _no_stride,
    "options-missing": _no_options,
    "external-buffer-out-of-file": _lost_weights,
    "tensor-aliased": _own_input,
    "unresolved-custom-op": _strange,
    "constant-out-of-range": _wild_axis,
}
