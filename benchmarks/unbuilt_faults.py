"""Kinds of faults that were not used while the diagnosis was built, and so say more about the next one."""

from __future__ import annotations

import math

from planted_faults import Planter, Tree, activation, filter_of, op_row, tensor_row, touching

from outlive.model import Model

_BINARY = ("ADD", "MUL", "SUB", "MAXIMUM", "MINIMUM")
_PLAIN = (*_BINARY, "RELU", "RELU6", "LOGISTIC", "TANH", "SOFTMAX", "RESHAPE", "CONV_2D", "DEPTHWISE_CONV_2D")
_NEWER = 99


def _output_left_out(tree: Tree, model: Model, index: int) -> set[int] | None:
    operator = model.subgraphs[0].operators[index]
    if operator.type not in _PLAIN or len(operator.outputs) != 1:
        return None
    op_row(tree, index)["outputs"] = [-1]
    return {index}


def _one_input_less(tree: Tree, model: Model, index: int) -> set[int] | None:
    operator = model.subgraphs[0].operators[index]
    if operator.type not in _BINARY:
        return None
    op_row(tree, index)["inputs"] = list(operator.inputs[:1])
    return {index}


def _one_output_more(tree: Tree, model: Model, index: int) -> set[int] | None:
    operator = model.subgraphs[0].operators[index]
    if operator.type not in _PLAIN:
        return None
    op_row(tree, index)["outputs"] = [*operator.outputs, operator.outputs[0]]
    return {index}


def _newer_version(tree: Tree, model: Model, index: int) -> set[int] | None:
    if model.subgraphs[0].operators[index].type not in _PLAIN:
        return None
    code = dict(tree["operator_codes"][op_row(tree, index)["opcode_index"] or 0])
    tree["operator_codes"].append(code | {"version": _NEWER})
    op_row(tree, index)["opcode_index"] = len(tree["operator_codes"]) - 1
    return {index}


def _of_tensorflow(tree: Tree, model: Model, index: int) -> set[int] | None:
    if model.subgraphs[0].operators[index].is_custom:
        return None
    code = {"builtin_code": "CUSTOM", "deprecated_builtin_code": 32, "custom_code": "FlexErfinv"}
    tree["operator_codes"].append(code)
    op_row(tree, index)["opcode_index"] = len(tree["operator_codes"]) - 1
    return {index}


def _nan_scale(tree: Tree, model: Model, index: int) -> set[int] | None:
    return _scaled(tree, model, index, math.nan)


def _zero_scale(tree: Tree, model: Model, index: int) -> set[int] | None:
    return _scaled(tree, model, index, 0.0)


def _scaled(tree: Tree, model: Model, index: int, scale: float) -> set[int] | None:
    tensor = activation(model, index, "int8", "uint8", "int16")
    if tensor is None or not (tensor_row(tree, tensor)["quantization"] or {}).get("scale"):
        return None
    tensor_row(tree, tensor)["quantization"]["scale"] = [scale]
    return touching(model, tensor)


def _weights_of_bools(tree: Tree, model: Model, index: int) -> set[int] | None:
    tensor = filter_of(model, index)
    if tensor is None:
        return None
    tensor_row(tree, tensor)["type"] = "BOOL"
    return touching(model, tensor)


def _wide_step(tree: Tree, model: Model, index: int) -> set[int] | None:
    operator = op_row(tree, index)
    if model.subgraphs[0].operators[index].type not in ("CONV_2D", "DEPTHWISE_CONV_2D"):
        return None
    if not operator["builtin_options"]:
        return None
    operator["builtin_options"] |= {"dilation_w_factor": 0, "dilation_h_factor": 0}
    return {index}


def _other_channels(tree: Tree, model: Model, index: int) -> set[int] | None:
    tensor = filter_of(model, index)
    if tensor is None or model.subgraphs[0].operators[index].type != "CONV_2D":
        return None
    shape = list(model.subgraphs[0].tensors[tensor].shape)
    if shape[3] < 2 or shape[3] % 2:
        return None
    tensor_row(tree, tensor)["shape"] = [2 * shape[0], *shape[1:3], shape[3] // 2]
    return touching(model, tensor)


def _far_axis(tree: Tree, model: Model, index: int) -> set[int] | None:
    operator = op_row(tree, index)
    if model.subgraphs[0].operators[index].type != "CONCATENATION" or not operator["builtin_options"]:
        return None
    operator["builtin_options"] |= {"axis": 77}
    return {index}


# By the word of the taxonomy that a diagnosis must find; what follows a colon tells kinds apart.
UNBUILT: dict[str, Planter] = {
    "required-tensor-missing:output": _output_left_out,
    "op-arity:input": _one_input_less,
    "op-arity:output": _one_output_more,
    "unsupported-op": _newer_version,
    "flex-op": _of_tensorflow,
    "quant-scale-invalid:nan": _nan_scale,
    "quant-scale-invalid:zero": _zero_scale,
    "tensor-type-mismatch:weights": _weights_of_bools,
    "option-out-of-range:dilation": _wide_step,
    "option-out-of-range:axis": _far_axis,
    "shape-mismatch": _other_channels,
}
