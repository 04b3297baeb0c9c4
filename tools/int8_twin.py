"""The int8 twin of a float model, from the ranges its activations were seen to take.

Weights: int8, symmetric, one scale per output channel (one in all for FULLY_CONNECTED, as the converter of
TensorFlow does). Biases: int32 at the scale of input times weights. Activations: int8, asymmetric.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from model_sketch import Array, Tree

Ranges = Mapping[str, tuple[float, float]]

# The versions from which the kernels take int8 (tflite/tools/versioning/op_version.cc).
INT8_VERSIONS = {
    "ADD": 2,
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "FULLY_CONNECTED": 4,
    "MEAN": 2,
    "SOFTMAX": 2,
}
# The dimension of the weights that counts output channels; None where one scale serves all.
CHANNEL_DIMENSION = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": None}
# What the softmax kernel demands of its output.
SOFTMAX_RANGE = (0.0, 255 / 256)


def int8_twin(tree: Tree, ranges: Ranges, description: str) -> Tree:
    """A copy of `tree` that takes, computes and gives int8."""
    twin = copy.deepcopy(tree)
    twin["description"] = description
    graph = twin["subgraphs"][0]
    for code in twin["operator_codes"]:
        code["version"] = INT8_VERSIONS.get(code["builtin_code"], 1)
    for tensor in graph["tensors"]:
        if "buffer" not in tensor:
            _quantize_activation(tensor, ranges)
    for operator in graph["operators"]:
        _quantize_operator(twin, operator)
    return twin


def _quantize_activation(tensor: Tree, ranges: Ranges) -> None:
    low, high = (min(ranges[tensor["name"]][0], 0.0), max(ranges[tensor["name"]][1], 0.0))
    scale = np.float32((high - low) / 255)
    zero_point = int(np.rint(-128 - low / float(scale)))
    tensor["type"] = "INT8"
    tensor["quantization"] = {"scale": [scale], "zero_point": [zero_point]}


def _quantize_operator(twin: Tree, operator: Tree) -> None:
    kind = twin["operator_codes"][operator["opcode_index"]]["builtin_code"]
    tensors = twin["subgraphs"][0]["tensors"]
    if kind == "RESHAPE":
        source, output = (tensors[operator[end][0]] for end in ("inputs", "outputs"))
        output["quantization"] = copy.deepcopy(source["quantization"])
    if kind not in CHANNEL_DIMENSION:
        return
    source, weights, bias = (tensors[index] for index in operator["inputs"])
    weight_scales = _quantize_weights(twin, weights, CHANNEL_DIMENSION[kind])
    bias_scales = np.float32(source["quantization"]["scale"][0]) * weight_scales
    numbers = np.rint(_data(twin, bias).astype(np.float64) / bias_scales).astype(np.int32)
    _replace(twin, bias, numbers, bias_scales, 0)


def _quantize_weights(twin: Tree, weights: Tree, dimension: int | None) -> Array:
    """Replace the weights and give their scales."""
    values = _data(twin, weights).astype(np.float64)
    others = tuple(axis for axis in range(values.ndim) if axis != dimension)
    largest = np.abs(values).max(axis=others, keepdims=True)
    scales = (largest / 127).astype(np.float32)
    numbers = np.clip(np.rint(values / scales), -127, 127).astype(np.int8)
    flat: Array = scales.reshape(-1)
    _replace(twin, weights, numbers, flat, dimension or 0)
    return flat


def _data(twin: Tree, tensor: Tree) -> Array:
    data: Array = twin["buffers"][tensor["buffer"]]["data"]
    return data


def _replace(twin: Tree, tensor: Tree, numbers: Array, scales: Array, dimension: int) -> None:
    twin["buffers"][tensor["buffer"]]["data"] = numbers
    tensor["type"] = numbers.dtype.name.upper()
    quantization: dict[str, Any] = {"scale": scales, "zero_point": [0] * len(scales)}
    tensor["quantization"] = quantization | {"quantized_dimension": dimension}
