"""A model being drawn operator by operator, in one precision; the bytes of its file when it is finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.surgery import write

Tree = dict[str, Any]
_SCALE = 0.05
# The versions that take the types used here; 2 for all others.
_VERSIONS = {
    "RESHAPE": 1,
    "GELU": 1,
    "DEQUANTIZE": 3,
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "FULLY_CONNECTED": 5,
}
_NAMES = {"float32": "FLOAT32", "float16": "FLOAT16", "int8": "INT8", "int32": "INT32", "int64": "INT64"}
_ACTIVATIONS = {"int8": "INT8", "int16x8": "INT16"}


class Canvas:
    """A model being drawn in one precision: each method adds an operator and gives the tensor it makes."""

    def __init__(self, precision: str) -> None:
        """An empty model."""
        self.precision = precision
        self.tensors: list[Tree] = []
        self.buffers: list[Tree] = [{}]
        self.operators: list[Tree] = []
        self.codes: list[tuple[str, int]] = []
        self._random = np.random.default_rng(7)

    def finish(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """The bytes of the model."""
        graph = {
            "tensors": self.tensors,
            "inputs": list(inputs),
            "outputs": list(outputs),
            "operators": self.operators,
        }
        codes = [{"builtin_code": kind, "version": version} for kind, version in self.codes]
        return write({"version": 3, "operator_codes": codes, "subgraphs": [graph], "buffers": self.buffers})

    def shape(self, tensor: int) -> list[int]:
        """The shape of a tensor drawn before."""
        return list(self.tensors[tensor]["shape"])

    def activation(self, shape: Sequence[int]) -> int:
        """A tensor computed at run time."""
        tensor: Tree = {"name": f"t{len(self.tensors)}", "shape": list(shape), "type": "FLOAT32"}
        if self.precision in _ACTIVATIONS:
            kind = _ACTIVATIONS[self.precision]
            tensor |= {"type": kind, "quantization": {"scale": [_SCALE], "zero_point": [0]}}
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def constant(self, values: NDArray[Any], **fields: Any) -> int:
        """A tensor whose values are in the file."""
        self.buffers.append({"data": values})
        tensor = {
            "name": f"c{len(self.tensors)}",
            "shape": list(values.shape),
            "type": _NAMES[values.dtype.name],
        }
        self.tensors.append(tensor | {"buffer": len(self.buffers) - 1} | fields)
        return len(self.tensors) - 1

    def weights(self, shape: Sequence[int], axis: int = 0, *, kernel: bool = True) -> int:
        """Weights in the model's precision, with a scale for each channel of `axis`."""
        raw = self._random.integers(-127, 128, tuple(shape), np.int8)
        if self.precision in ("dynamic", *_ACTIVATIONS) and kernel:
            channels = shape[axis]
            scales = {"scale": [0.01] * channels, "zero_point": [0] * channels, "quantized_dimension": axis}
            return self.constant(raw, quantization=scales)
        values = raw.astype(np.float32) / 1000
        if self.precision != "half":
            return self.constant(values)
        packed = self.constant(values.astype(np.float16))
        self.tensors.append({"name": f"w{len(self.tensors)}", "shape": list(shape), "type": "FLOAT32"})
        return self.add_operator("DEQUANTIZE", [packed], len(self.tensors) - 1)

    def bias(self, channels: int) -> int:
        """A bias that goes with the weights."""
        if self.precision not in _ACTIVATIONS:
            return self.weights([channels], kernel=False)
        scales = {"scale": [0.01 * _SCALE] * channels, "zero_point": [0] * channels}
        zeros = np.zeros(channels, np.int32 if self.precision == "int8" else np.int64)
        return self.constant(zeros, quantization=scales)

    def add_operator(
        self, kind: str, inputs: Sequence[int], output: int, options: str = "", **fields: Any
    ) -> int:
        """An operator with one output."""
        code = kind, _VERSIONS.get(kind, 2)
        if code not in self.codes:
            self.codes.append(code)
        operator: Tree = {"opcode_index": self.codes.index(code), "inputs": list(inputs), "outputs": [output]}
        if options:
            operator |= {"builtin_options_type": options, "builtin_options": fields}
        self.operators.append(operator)
        return output

    def conv(self, source: int, channels: int, size: int = 1, stride: int = 1, act: str = "RELU6") -> int:
        """A convolution with SAME padding."""
        batch, height, width, depth = self.shape(source)
        given = [source, self.weights([channels, size, size, depth]), self.bias(channels)]
        made = self.activation([batch, -(-height // stride), -(-width // stride), channels])
        strides = {"stride_h": stride, "stride_w": stride, "padding": "SAME"}
        return self.add_operator(
            "CONV_2D", given, made, "Conv2DOptions", fused_activation_function=act, **strides
        )

    def depthwise(self, source: int, size: int = 3, stride: int = 1, act: str = "RELU6") -> int:
        """A convolution of each channel by itself; hybrid ones XNNPACK does not take, so they stay float."""
        batch, height, width, depth = self.shape(source)
        kernel = self.weights([1, size, size, depth], 3, kernel=self.precision in _ACTIVATIONS)
        made = self.activation([batch, -(-height // stride), -(-width // stride), depth])
        options = {"stride_h": stride, "stride_w": stride, "padding": "SAME", "depth_multiplier": 1}
        return self.add_operator(
            "DEPTHWISE_CONV_2D",
            [source, kernel, self.bias(depth)],
            made,
            "DepthwiseConv2DOptions",
            fused_activation_function=act,
            **options,
        )

    def dense(self, source: int, channels: int, act: str = "NONE") -> int:
        """A fully connected layer over the last dimension."""
        shape = self.shape(source)
        given = [source, self.weights([channels, shape[-1]]), self.bias(channels)]
        made = self.activation([*shape[:-1], channels])
        keep = len(shape) > 2
        options = {"fused_activation_function": act, "keep_num_dims": keep}
        return self.add_operator("FULLY_CONNECTED", given, made, "FullyConnectedOptions", **options)

    def pair(self, kind: str, left: int, right: int) -> int:
        """ADD, MUL, SUB ... of two tensors; the first has the shape of the result."""
        options = {"ADD": "AddOptions", "MUL": "MulOptions", "SUB": "SubOptions"}.get(kind, "")
        return self.add_operator(kind, [left, right], self.activation(self.shape(left)), options)

    def single(self, kind: str, source: int, options: str = "", **fields: Any) -> int:
        """An operator on one tensor that keeps its shape."""
        made = self.activation(self.shape(source))
        if kind == "SOFTMAX" and self.precision == "int8":  # what its kernel demands
            self.tensors[made]["quantization"] = {"scale": [1 / 256], "zero_point": [-128]}
        return self.add_operator(kind, [source], made, options, **fields)

    def mean(self, source: int, axes: Sequence[int]) -> int:
        """The mean over some dimensions, which stay as ones."""
        shape = [1 if axis in axes else size for axis, size in enumerate(self.shape(source))]
        given = [source, self.constant(np.array(axes, np.int32))]
        return self.add_operator("MEAN", given, self.activation(shape), "ReducerOptions", keep_dims=True)

    def reshape(self, source: int, shape: Sequence[int]) -> int:
        """The same values in another shape."""
        given = [source, self.constant(np.array(shape, np.int32))]
        return self.add_operator(
            "RESHAPE", given, self.activation(shape), "ReshapeOptions", new_shape=list(shape)
        )

    def transpose(self, source: int, order: Sequence[int]) -> int:
        """Dimensions in another order."""
        shape = self.shape(source)
        given = [source, self.constant(np.array(order, np.int32))]
        return self.add_operator("TRANSPOSE", given, self.activation([shape[axis] for axis in order]))

    def matmul(self, left: int, right: int, *, transposed: bool) -> int:
        """A product of matrices, both computed at run time."""
        rows, columns = self.shape(left), self.shape(right)[-2 if transposed else -1]
        made = self.activation([*rows[:-1], columns])
        return self.add_operator("BATCH_MATMUL", [left, right], made, "BatchMatMulOptions", adj_y=transposed)

    def pool(self, source: int, size: int, stride: int) -> int:
        """The largest of each square."""
        batch, height, width, depth = self.shape(source)
        made = self.activation([batch, -(-height // stride), -(-width // stride), depth])
        options = {"padding": "SAME", "stride_h": stride, "stride_w": stride}
        return self.add_operator(
            "MAX_POOL_2D", [source], made, "Pool2DOptions", filter_height=size, filter_width=size, **options
        )

    def join(self, left: int, right: int) -> int:
        """Two images on top of each other."""
        shape = self.shape(left)
        made = self.activation([*shape[:-1], shape[-1] + self.shape(right)[-1]])
        return self.add_operator("CONCATENATION", [left, right], made, "ConcatenationOptions", axis=3)

    def enlarge(self, source: int) -> int:
        """Twice as high and wide, interpolated."""
        batch, height, width, depth = self.shape(source)
        given = [source, self.constant(np.array([2 * height, 2 * width], np.int32))]
        made = self.activation([batch, 2 * height, 2 * width, depth])
        return self.add_operator(
            "RESIZE_BILINEAR", given, made, "ResizeBilinearOptions", half_pixel_centers=True
        )

    def state(self, shape: Sequence[int]) -> int:
        """A variable that keeps its values between runs."""
        made = self.activation(shape)
        self.tensors[made]["is_variable"] = True
        return made

    def lstm(self, source: int, units: int) -> int:
        """A fused LSTM over the second dimension, without peepholes and projection."""
        batch, length, depth = self.shape(source)
        kernels = [self.weights([units, size]) for size in (*[depth] * 4, *[units] * 4)]
        biases = [self.bias(units) for _ in range(4)]
        states = [self.state([batch, units]) for _ in range(2)]
        given = [source, *kernels, -1, -1, -1, *biases, -1, -1, *states, *[-1] * 4]
        made = self.activation([batch, length, units])
        options = {"fused_activation_function": "TANH", "time_major": False}
        kind = "UNIDIRECTIONAL_SEQUENCE_LSTM"
        return self.add_operator(kind, given, made, "UnidirectionalSequenceLSTMOptions", **options)
