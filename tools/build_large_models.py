"""Generates models of the size people run, with random weights, to hold plans against what the runtime takes.

    python tools/build_large_models.py FOLDER [--only mobilenet]

MobileNetV2, ResNet50, an EfficientNet-B0, a U-Net and transformer blocks at several sizes; each in float32
(`float`), with float16 weights (`half`), with int8 weights only (`dynamic`) and in int8 throughout (`int8`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.surgery import write

Tree = dict[str, Any]
PRECISIONS = ("float", "half", "dynamic", "int8")
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
_NAMES = {"float32": "FLOAT32", "float16": "FLOAT16", "int8": "INT8", "int32": "INT32"}


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
        if self.precision == "int8":
            tensor |= {"type": "INT8", "quantization": {"scale": [_SCALE], "zero_point": [0]}}
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
        if self.precision in ("int8", "dynamic") and kernel:
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
        if self.precision != "int8":
            return self.weights([channels], kernel=False)
        scales = {"scale": [0.01 * _SCALE] * channels, "zero_point": [0] * channels}
        return self.constant(np.zeros(channels, np.int32), quantization=scales)

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
        kernel = self.weights([1, size, size, depth], 3, kernel=self.precision == "int8")
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


def mobilenet_v2(canvas: Canvas, size: int) -> bytes:
    """MobileNetV2 with width 1."""
    image = canvas.activation([1, size, size, 3])
    x = canvas.conv(image, 32, 3, 2)
    plan = (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    )
    for factor, channels, count, stride in plan:
        for step in range(count):
            given = x
            depth = canvas.shape(x)[3]
            x = canvas.conv(x, depth * factor) if factor > 1 else x
            x = canvas.depthwise(x, 3, stride if step == 0 else 1)
            x = canvas.conv(x, channels, act="NONE")
            x = canvas.pair("ADD", given, x) if step else x
    return _head(canvas, image, canvas.conv(x, 1280))


def resnet50(canvas: Canvas, size: int) -> bytes:
    """ResNet50."""
    image = canvas.activation([1, size, size, 3])
    x = canvas.pool(canvas.conv(image, 64, 7, 2, "RELU"), 3, 2)
    for stage, (channels, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for step in range(count):
            stride = 2 if stage and not step else 1
            shortcut = x if step else canvas.conv(x, 4 * channels, 1, stride, "NONE")
            x = canvas.conv(x, channels, 1, stride, "RELU")
            x = canvas.conv(x, channels, 3, 1, "RELU")
            x = canvas.pair("ADD", canvas.conv(x, 4 * channels, act="NONE"), shortcut)
    return _head(canvas, image, x)


def efficientnet(canvas: Canvas, size: int) -> bytes:
    """An EfficientNet-B0: swish, squeeze and excitation, 5x5 kernels."""
    image = canvas.activation([1, size, size, 3])
    x = _swish(canvas, canvas.conv(image, 32, 3, 2, "NONE"))
    plan = (
        (1, 16, 1, 1, 3),
        (6, 24, 2, 2, 3),
        (6, 40, 2, 2, 5),
        (6, 80, 3, 2, 3),
        (6, 112, 3, 1, 5),
        (6, 192, 4, 2, 5),
    )
    for factor, channels, count, stride, kernel in plan:
        for step in range(count):
            given, depth = x, canvas.shape(x)[3]
            x = _swish(canvas, canvas.conv(x, depth * factor, act="NONE")) if factor > 1 else x
            x = _swish(canvas, canvas.depthwise(x, kernel, 1 if step else stride, "NONE"))
            gate = canvas.conv(canvas.mean(x, (1, 2)), max(1, depth // 4), act="RELU")
            gate = canvas.single("LOGISTIC", canvas.conv(gate, depth * factor, act="NONE"))
            x = canvas.conv(canvas.pair("MUL", x, gate), channels, act="NONE")
            x = canvas.pair("ADD", x, given) if step else x
    return _head(canvas, image, _swish(canvas, canvas.conv(x, 1280, act="NONE")))


def _swish(canvas: Canvas, x: int) -> int:
    return canvas.pair("MUL", x, canvas.single("LOGISTIC", x))


def _head(canvas: Canvas, image: int, x: int) -> bytes:
    pooled = canvas.mean(x, (1, 2))
    flat = canvas.reshape(pooled, [1, canvas.shape(pooled)[3]])
    return canvas.finish([image], [canvas.dense(flat, 1000)])


def unet(canvas: Canvas, size: int) -> bytes:
    """A U-Net that enlarges by interpolation."""
    image = canvas.activation([1, size, size, 3])
    x, kept = image, []
    for channels in (16, 32, 64, 128):
        x = canvas.conv(canvas.conv(x, channels, 3, act="RELU"), channels, 3, act="RELU")
        kept.append(x)
        x = canvas.pool(x, 2, 2)
    x = canvas.conv(x, 256, 3, act="RELU")
    for shortcut in reversed(kept):
        x = canvas.join(canvas.enlarge(x), shortcut)
        x = canvas.conv(x, canvas.shape(shortcut)[3], 3, act="RELU")
    return canvas.finish([image], [canvas.conv(x, 4, act="NONE")])


def transformer(canvas: Canvas, width: int, length: int = 128, layers: int = 2) -> bytes:
    """Blocks of attention and two dense layers, with layer norms written out."""
    heads = max(1, width // 64)
    words = canvas.activation([1, length, width])
    x = words
    for _ in range(layers):
        split = [1, length, heads, width // heads]
        query, key, value = (
            canvas.transpose(canvas.reshape(canvas.dense(x, width), split), (0, 2, 1, 3)) for _ in range(3)
        )
        chances = canvas.single(
            "SOFTMAX", canvas.matmul(query, key, transposed=True), "SoftmaxOptions", beta=1.0
        )
        found = canvas.transpose(canvas.matmul(chances, value, transposed=False), (0, 2, 1, 3))
        x = _norm(
            canvas, canvas.pair("ADD", canvas.dense(canvas.reshape(found, [1, length, width]), width), x)
        )
        hidden = canvas.single("GELU", canvas.dense(x, 4 * width), "GeluOptions", approximate=True)
        x = _norm(canvas, canvas.pair("ADD", canvas.dense(hidden, width), x))
    return canvas.finish([words], [x])


def _norm(canvas: Canvas, x: int) -> int:
    if canvas.precision == "int8":
        return x  # a converter would not quantize it
    centred = canvas.pair("SUB", x, canvas.mean(x, (2,)))
    spread = canvas.mean(canvas.pair("MUL", centred, centred), (2,))
    return canvas.pair("MUL", centred, canvas.single("RSQRT", spread))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A model that can be made: its name, and how."""

    name: str
    draw: Callable[[Canvas], bytes]
    precision: str

    def build(self) -> bytes:
        """The bytes of the model."""
        return self.draw(Canvas(self.precision))


def recipes() -> Iterator[Recipe]:
    """All models, the smaller sizes first."""
    families: tuple[tuple[str, Callable[[Canvas, int], bytes], tuple[int, ...]], ...] = (
        ("mobilenet", mobilenet_v2, (96, 160, 224, 320)),
        ("resnet50", resnet50, (160, 224)),
        ("efficientnet", efficientnet, (160, 224)),
        ("unet", unet, (128, 256)),
        ("transformer", transformer, (128, 256, 512, 768)),
    )
    for family, draw, sizes in families:
        for size in sizes:
            for precision in PRECISIONS:
                yield Recipe(
                    name=f"{family}_{size}_{precision}",
                    draw=lambda canvas, draw=draw, size=size: draw(canvas, size),  # type: ignore[misc]
                    precision=precision,
                )


def main() -> None:
    """Write all models, or those whose name begins as asked, into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="the beginning of the names to build")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for recipe in recipes():
        if recipe.name.startswith(arguments.only):
            (arguments.folder / f"{recipe.name}.tflite").write_bytes(recipe.build())


if __name__ == "__main__":
    main()
