"""A pencil for models: layers are added one by one, and give a tree that `outlive.surgery.write` takes.

Everything here is exact arithmetic on a frozen random stream, so that the same sketch gives the same bytes
on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tree = dict[str, Any]
Array = NDArray[Any]

# The schema's numbers of the operators drawn here, for the field that old runtimes read.
OPERATORS = {
    "ADD": 0, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "DEQUANTIZE": 6, "FULLY_CONNECTED": 9,
    "LOCAL_RESPONSE_NORMALIZATION": 13, "LOGISTIC": 14, "MAX_POOL_2D": 17, "RESHAPE": 22,
    "SOFTMAX": 25, "TRANSPOSE": 39, "MEAN": 40, "QUANTIZE": 114,
}  # fmt: skip
TYPES = {"float32": "FLOAT32", "int32": "INT32", "int8": "INT8"}
MIN_RUNTIME_VERSION = b"1.5.0".ljust(16, b"\0")


class Sketch:
    """A model with one subgraph, one signature and a batch size that can be changed."""

    def __init__(self, description: str, seed: int) -> None:
        """Start with an empty graph; buffer 0 stays empty, as the schema asks."""
        self.description = description
        self.tensors: list[Tree] = []
        self.buffers: list[Tree] = [{}]
        self.operators: list[Tree] = []
        self.codes: list[str] = []
        # The legacy generator: its stream is frozen, and uniform numbers need no libm.
        self._random = np.random.RandomState(seed)

    def activation(self, name: str, shape: Sequence[int], **fields: Any) -> int:
        """A tensor computed at run time; its first dimension is the batch."""
        tensor = {"name": name, "shape": list(shape), "shape_signature": [-1, *shape[1:]], "has_rank": True}
        self.tensors.append(tensor | {"type": "FLOAT32"} | fields)
        return len(self.tensors) - 1

    def constant(self, name: str, values: Array) -> int:
        """A tensor whose values are in the file, each in a buffer of its own."""
        self.buffers.append({"data": values})
        tensor = {"name": name, "shape": list(values.shape), "type": TYPES[values.dtype.name]}
        self.tensors.append(tensor | {"buffer": len(self.buffers) - 1, "has_rank": True})
        return len(self.tensors) - 1

    def weights(self, shape: Sequence[int], fan_in: int, gain: float = 1.0) -> Array:
        """He's uniform weights: variance is kept from layer to layer."""
        limit = gain * math.sqrt(6 / fan_in)
        return ((self._random.random_sample(tuple(shape)) * 2 - 1) * limit).astype(np.float32)

    def operator(
        self, kind: str, inputs: Sequence[int], output: int, options: str = "", **fields: Any
    ) -> int:
        """An operator with one output, whose tensor is returned."""
        if kind not in self.codes:
            self.codes.append(kind)
        operator: Tree = {"opcode_index": self.codes.index(kind), "inputs": list(inputs), "outputs": [output]}
        if options:
            operator |= {"builtin_options_type": options, "builtin_options": fields}
        self.operators.append(operator)
        return output

    def shape(self, tensor: int) -> list[int]:
        """The shape of a tensor drawn before."""
        return list(self.tensors[tensor]["shape"])

    def conv(
        self,
        source: int,
        name: str,
        channels: int,
        *,
        size: int = 3,
        stride: int = 1,
        activation: str = "RELU6",
    ) -> int:
        """A convolution with SAME padding, and its weights and bias."""
        batch, height, width, depth = self.shape(source)
        weights = self.weights([channels, size, size, depth], size * size * depth)
        return self.operator(
            "CONV_2D",
            [source, self.constant(f"{name}/weights", weights), self.bias(name, channels)],
            self.activation(name, [batch, -(-height // stride), -(-width // stride), channels]),
            "Conv2DOptions",
            padding="SAME",
            stride_h=stride,
            stride_w=stride,
            fused_activation_function=activation,
        )

    def depthwise(self, source: int, name: str, *, stride: int = 1) -> int:
        """A 3x3 convolution of each channel by itself, then RELU6."""
        batch, height, width, depth = self.shape(source)
        weights = self.weights([1, 3, 3, depth], 9)
        return self.operator(
            "DEPTHWISE_CONV_2D",
            [source, self.constant(f"{name}/weights", weights), self.bias(name, depth)],
            self.activation(name, [batch, -(-height // stride), -(-width // stride), depth]),
            "DepthwiseConv2DOptions",
            padding="SAME",
            stride_h=stride,
            stride_w=stride,
            depth_multiplier=1,
            fused_activation_function="RELU6",
        )

    def bias(self, name: str, channels: int) -> int:
        """A small bias of its own for each channel."""
        return self.constant(f"{name}/bias", self.weights([channels], 6, gain=0.25))

    def add(self, left: int, right: int, name: str) -> int:
        """Two tensors of one shape, added."""
        output = self.activation(name, self.shape(left))
        return self.operator("ADD", [left, right], output, "AddOptions", fused_activation_function="NONE")

    def max_pool(self, source: int, name: str) -> int:
        """The largest of each 2x2 square."""
        batch, height, width, depth = self.shape(source)
        return self.operator(
            "MAX_POOL_2D",
            [source],
            self.activation(name, [batch, height // 2, width // 2, depth]),
            "Pool2DOptions",
            padding="VALID",
            stride_h=2,
            stride_w=2,
            filter_height=2,
            filter_width=2,
        )

    def classifier(self, source: int, name: str, bias: Array, gain: float = 1.0) -> int:
        """The end of an image classifier: mean over the picture, dense layer, softmax."""
        batch, _, _, depth = self.shape(source)
        axes = self.constant(f"{name}/mean/axes", np.array([1, 2], np.int32))
        mean = self.activation(f"{name}/mean", [batch, 1, 1, depth])
        self.operator("MEAN", [source, axes], mean, "ReducerOptions", keep_dims=True)
        flat_shape = self.constant(f"{name}/flatten/shape", np.array([-1, depth], np.int32))
        flat = self.activation(f"{name}/flatten", [batch, depth])
        self.operator("RESHAPE", [mean, flat_shape], flat, "ReshapeOptions", new_shape=[-1, depth])
        weights = self.constant(f"{name}/dense/weights", self.weights([len(bias), depth], depth, gain))
        logits = self.activation(f"{name}/dense", [batch, len(bias)])
        inputs = [flat, weights, self.constant(f"{name}/dense/bias", bias)]
        self.operator("FULLY_CONNECTED", inputs, logits, "FullyConnectedOptions")
        output = self.activation("probabilities", [batch, len(bias)])
        return self.operator("SOFTMAX", [logits], output, "SoftmaxOptions", beta=1.0)

    def tree(self, source: int, output: int) -> Tree:
        """The whole model, with one input and one output."""
        return {
            "version": 3,
            "description": self.description,
            "operator_codes": [code(kind) for kind in self.codes],
            "subgraphs": [
                {
                    "name": "main",
                    "tensors": self.tensors,
                    "inputs": [source],
                    "outputs": [output],
                    "operators": self.operators,
                }
            ],
            "buffers": [*self.buffers, {"data": MIN_RUNTIME_VERSION}],
            "metadata": [{"name": "min_runtime_version", "buffer": len(self.buffers)}],
            "signature_defs": [
                {
                    "signature_key": "serving_default",
                    "inputs": [{"name": self.tensors[source]["name"], "tensor_index": source}],
                    "outputs": [{"name": self.tensors[output]["name"], "tensor_index": output}],
                }
            ],
        }


def code(kind: str, version: int = 1) -> Tree:
    """An operator code as every runtime reads it."""
    number = OPERATORS[kind]
    return {"builtin_code": kind, "deprecated_builtin_code": number, "version": version}
