"""Rebuilds the models that ship with the package, byte for byte.

    python tools/build_models.py [--into FOLDER]

- healthy       an image classifier in float32
- healthy_int8  its int8 twin; the ranges come from healthy_ranges.json, measured by calibrate_models.py
- deadly        dies with SIGSEGV in invoke, in operator 3, LOCAL_RESPONSE_NORMALIZATION: its radius is -16.
                The kernel (LocalResponseNormalization in tflite/kernels/internal/optimized/optimized_ops.h)
                makes room for channels + 2 * radius floats, here 32 - 32 = 0, so for none, and then writes
                the channels at index radius of a null pointer. Nothing checks the option, XNNPACK leaves
                the operator to that kernel, and no input changes it. The reference kernel does run it.
- too_big       34 KB that need more than 768 MiB: three tensors of 1x1024x1024x64 are alive at once
- wasteful      runs, and carries every kind of waste a reader can see: two equal constants, a buffer and a
                tensor nobody uses, an operator whose output nobody reads, a RESHAPE and a TRANSPOSE that
                change nothing, a DEQUANTIZE that the next QUANTIZE undoes
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from int8_twin import SOFTMAX_RANGE, int8_twin
from model_sketch import Sketch, Tree

from outlive.surgery import write

HERE = Path(__file__).parent
FOLDER = HERE.parent / "src" / "outlive" / "demo_models"
MEASURED = HERE / "healthy_ranges.json"
CLASSES = 10
DEADLY_RADIUS = -16


def healthy() -> Tree:
    """A small MobileNet-like classifier: 16 operators, two residual blocks."""
    sketch = Sketch("outlive demo: a healthy float32 image classifier", seed=1)
    image = sketch.activation("image", [1, 64, 64, 3])
    stem = sketch.conv(image, "stem/conv", 16, stride=2)
    block1 = sketch.conv(
        sketch.depthwise(stem, "block1/depthwise"), "block1/project", 16, size=1, activation="NONE"
    )
    x = sketch.add(stem, block1, "block1/add")
    x = sketch.conv(x, "block2/expand", 48, size=1)
    x = sketch.depthwise(x, "block2/depthwise", stride=2)
    shortcut = sketch.conv(x, "block2/project", 24, size=1, activation="NONE")
    x = sketch.conv(shortcut, "block3/expand", 72, size=1)
    x = sketch.depthwise(x, "block3/depthwise")
    x = sketch.conv(x, "block3/project", 24, size=1, activation="NONE")
    x = sketch.add(shortcut, x, "block3/add")
    x = sketch.conv(x, "head/conv", 64, size=1)
    bias = np.array(json.loads(MEASURED.read_text())["head/dense/bias"], np.float32)
    return sketch.tree(image, sketch.classifier(x, "head", bias, gain=2.0))


def healthy_int8() -> Tree:
    """The healthy model, quantized after training with measured ranges."""
    ranges = json.loads(MEASURED.read_text())["ranges"]
    exact = {"image": (-1.0, 1.0), "probabilities": SOFTMAX_RANGE}
    return int8_twin(healthy(), ranges | exact, "outlive demo: the int8 twin of the healthy classifier")


def deadly() -> Tree:
    """A small AlexNet-like classifier: 9 operators, of which the fourth kills."""
    sketch = Sketch("outlive demo: a classifier that dies in its normalization", seed=2)
    image = sketch.activation("image", [1, 32, 32, 3])
    x = sketch.conv(image, "conv1", 16, activation="RELU")
    x = sketch.max_pool(x, "pool1")
    x = sketch.conv(x, "conv2", 32, activation="RELU")
    x = sketch.operator(
        "LOCAL_RESPONSE_NORMALIZATION",
        [x],
        sketch.activation("norm2", sketch.shape(x)),
        "LocalResponseNormalizationOptions",
        radius=DEADLY_RADIUS,
        bias=1.0,
        alpha=1e-4,
        beta=0.75,
    )
    x = sketch.max_pool(x, "pool2")
    return sketch.tree(image, sketch.classifier(x, "head", np.zeros(CLASSES, np.float32)))


def too_big() -> Tree:
    """Few weights, huge pictures."""
    sketch = Sketch("outlive demo: a few weights at a very high resolution", seed=3)
    image = sketch.activation("image", [1, 1024, 1024, 3])
    wide = sketch.conv(image, "stem/conv", 64)
    x = sketch.depthwise(wide, "block1/depthwise")
    x = sketch.conv(x, "block1/project", 64, size=1, activation="NONE")
    x = sketch.add(wide, x, "block1/add")
    x = sketch.depthwise(x, "block2/depthwise", stride=2)
    return sketch.tree(image, sketch.classifier(x, "head", np.zeros(CLASSES, np.float32)))


def wasteful() -> Tree:
    """A model that computes what it should and carries much that it need not."""
    sketch = Sketch("outlive demo: a model that carries waste", seed=4)
    image = sketch.activation("image", [1, 32, 32, 3])
    stem = sketch.conv(image, "stem/conv", 16, stride=2)
    x = sketch.conv(stem, "tower1/conv", 16)
    x = sketch.conv(x, "tower2/conv", 16)
    _share_values(sketch, "tower1/conv/weights", "tower2/conv/weights")
    shape = sketch.shape(x)
    same_shape = sketch.constant("same/shape", np.array([-1, *shape[1:]], np.int32))
    same = sketch.activation("same/reshape", shape)
    x = sketch.operator("RESHAPE", [x, same_shape], same, "ReshapeOptions", new_shape=[-1, *shape[1:]])
    order = sketch.constant("same/order", np.arange(4, dtype=np.int32))
    x = sketch.operator(
        "TRANSPOSE", [x, order], sketch.activation("same/transpose", shape), "TransposeOptions"
    )
    x = _there_and_back(sketch, x)
    sketch.operator("LOGISTIC", [stem], sketch.activation("dead/logistic", sketch.shape(stem)))
    sketch.activation("unused/tensor", [1, 16, 16, 16])
    sketch.buffers.append({"data": sketch.weights([300], 6)})
    return sketch.tree(image, sketch.classifier(x, "head", np.zeros(CLASSES, np.float32)))


def _share_values(sketch: Sketch, first: str, second: str) -> None:
    """Make two constants equal, each still in a buffer of its own."""
    buffers = {tensor["name"]: tensor.get("buffer", 0) for tensor in sketch.tensors}
    sketch.buffers[buffers[second]] = dict(sketch.buffers[buffers[first]])


def _there_and_back(sketch: Sketch, source: int) -> int:
    """QUANTIZE, DEQUANTIZE, QUANTIZE with the same parameters, DEQUANTIZE."""
    shape = sketch.shape(source)
    for turn in ("first", "second"):
        quantization = {"scale": [6 / 255], "zero_point": [-128]}
        small = sketch.activation(f"{turn}/quantize", shape, type="INT8", quantization=quantization)
        sketch.operator("QUANTIZE", [source], small, "QuantizeOptions")
        large = sketch.activation(f"{turn}/dequantize", shape)
        source = sketch.operator("DEQUANTIZE", [small], large, "DequantizeOptions")
    return source


MODELS = {
    "healthy": healthy,
    "healthy_int8": healthy_int8,
    "deadly": deadly,
    "too_big": too_big,
    "wasteful": wasteful,
}


def main() -> None:
    """Write every model into a folder."""
    parser = argparse.ArgumentParser(description="Rebuild the models that ship with the package.")
    parser.add_argument(
        "--into", type=Path, default=FOLDER, help="folder to write to (default: the package's)"
    )
    folder = parser.parse_args().into
    for name, draw in MODELS.items():
        data = write(draw())
        (folder / f"{name}.tflite").write_bytes(data)
        print(f"{name}.tflite  {len(data):,} bytes")


if __name__ == "__main__":
    main()
