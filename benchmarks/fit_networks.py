"""Small networks that really recognise handwritten digits, to see what making them fit costs.

Their convolutions are random and their last layer is fitted to scikit-learn's digits, in one step of algebra:
enough to be right nine times out of ten and more, and done in seconds. Shapes are those of the families that
people run: MobileNetV2, EfficientNet, DeepLab, and the DS-CNN of keyword spotting.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from canvas import Canvas

import outlive
from outlive.surgery import tree_of, write

Array = NDArray[Any]
CLASSES = 10
_RIDGE, _GAIN = 1e-3, 12.0


class Easel(Canvas):
    """A canvas whose weights keep values at about the size they have, from layer to layer."""

    def weights(self, shape: Sequence[int], axis: int = 0, *, kernel: bool = True) -> int:
        """He's uniform weights; biases are small."""
        one_each = len(shape) == 4 and axis == 3  # depthwise: each channel by itself
        fan_in = int(np.prod(shape[1:3])) if one_each else int(np.prod(shape[1:])) if kernel else 100
        limit = np.sqrt(6 / max(fan_in, 1))
        return self.constant(self._random.uniform(-limit, limit, tuple(shape)).astype(np.float32))

    def flat(self, source: int) -> int:
        """The values of each picture in a row, whatever the batch."""
        depth = self.shape(source)[3]
        given = [source, self.constant(np.array([-1, depth], np.int32))]
        batch = self.shape(source)[0]
        return self.add_operator(
            "RESHAPE", given, self.activation([batch, depth]), "ReshapeOptions", new_shape=[-1, depth]
        )

    def classes(self, source: int) -> int:
        """The end of a classifier; the dense layer is to be trained."""
        logits = self.dense(self.flat(self.mean(source, (1, 2))), CLASSES)
        return self.single("SOFTMAX", logits, "SoftmaxOptions", beta=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A network with what it was not trained on: `samples`, a picture each, and `labels`."""

    name: str
    model: bytes
    samples: tuple[Array, ...]
    labels: Array

    def accuracy(self) -> Callable[[Any], float]:
        """A metric: how many of the labels it finds."""
        samples, labels = self.samples, self.labels

        def accuracy(predict: Callable[[Any], Any]) -> float:
            found = np.concatenate([predict(sample).argmax(-1).ravel() for sample in samples])
            return float((found == labels.ravel()).mean())

        return accuracy


def mobilenet(batch: int = 1, size: int = 32, width: int = 16) -> bytes:
    """Inverted residuals, as in MobileNetV2."""
    canvas = Easel("float")
    image = canvas.activation([batch, size, size, 1])
    x = canvas.conv(image, width, 3, 2)
    for channels, stride in ((width, 1), (2 * width, 2), (2 * width, 1), (4 * width, 2), (4 * width, 1)):
        given, depth = x, canvas.shape(x)[3]
        x = canvas.depthwise(canvas.conv(x, 6 * depth), 3, stride)
        x = canvas.conv(x, channels, act="NONE")
        x = canvas.pair("ADD", x, given) if stride == 1 and depth == channels else x
    return canvas.finish([image], [canvas.classes(canvas.conv(x, 20 * width))])


def efficientnet(batch: int = 1, size: int = 32, width: int = 16) -> bytes:
    """Swish, squeeze and excitation, as in EfficientNet."""
    canvas = Easel("float")
    image = canvas.activation([batch, size, size, 1])
    x = _swish(canvas, canvas.conv(image, width, 3, 2, "NONE"))
    for channels, stride in ((width, 1), (2 * width, 2), (2 * width, 1), (4 * width, 2)):
        given, depth = x, canvas.shape(x)[3]
        x = _swish(canvas, canvas.conv(x, 4 * depth, act="NONE"))
        x = _swish(canvas, canvas.depthwise(x, 3, stride, "NONE"))
        gate = canvas.conv(canvas.mean(x, (1, 2)), max(4, depth // 4), act="RELU")
        gate = canvas.single("LOGISTIC", canvas.conv(gate, 4 * depth, act="NONE"))
        x = canvas.conv(canvas.pair("MUL", x, gate), channels, act="NONE")
        x = canvas.pair("ADD", x, given) if stride == 1 and depth == channels else x
    return canvas.finish([image], [canvas.classes(_swish(canvas, canvas.conv(x, 16 * width, act="NONE")))])


def keyword_spotter(batch: int = 1, size: int = 49, width: int = 48) -> bytes:
    """Depthwise separable convolutions over a spectrogram, as in DS-CNN."""
    canvas = Easel("float")
    sound = canvas.activation([batch, size, 10, 1])
    x = canvas.conv(sound, width, 5, 2)
    for _ in range(4):
        x = canvas.conv(canvas.depthwise(x), width)
    return canvas.finish([sound], [canvas.classes(canvas.conv(x, 16 * width))])


def deeplab(batch: int = 1, size: int = 32, width: int = 16) -> bytes:
    """A class for every dot, as in DeepLab; the last convolution is to be trained."""
    canvas = Easel("float")
    image = canvas.activation([batch, size, size, 1])
    x = canvas.conv(image, width, 3, 2)
    for channels, stride in ((2 * width, 2), (2 * width, 1), (4 * width, 1)):
        x = canvas.conv(canvas.depthwise(canvas.conv(x, 4 * width), 3, stride), channels)
    around = canvas.conv(canvas.mean(x, (1, 2)), 4 * width, act="RELU")
    x = canvas.pair("ADD", canvas.conv(x, 4 * width), around)
    x = canvas.conv(x, 3, act="NONE")
    x = canvas.enlarge(canvas.enlarge(x))
    return canvas.finish([image], [canvas.single("SOFTMAX", x, "SoftmaxOptions", beta=1.0)])


def _swish(canvas: Canvas, x: int) -> int:
    return canvas.pair("MUL", x, canvas.single("LOGISTIC", x))


FAMILIES = {
    "mobilenet": mobilenet,
    "efficientnet": efficientnet,
    "deeplab": deeplab,
    "keyword_spotter": keyword_spotter,
}


@cache
def trained(family: str, *, width: int = 16, batch: int = 1, held_out: int = 64) -> Trained:
    """A network of a family, its last layer fitted to digits; the held-out ones come with it."""
    from sklearn.datasets import load_digits

    shape = (49, 10) if family == "keyword_spotter" else (32, 32)
    pictures = np.stack([_sized(image / 16, shape) for image in load_digits().images])[..., None]
    digits = load_digits().target
    single = FAMILIES[family](1, width=width)
    if family == "deeplab":
        model, labels = _fit_dots(single, pictures, digits, held_out)
    else:
        model = _fit_classes(single, pictures[held_out:], digits[held_out:])
        labels = digits[:held_out]
    if batch > 1:
        model = _carried_over(model, FAMILIES[family](batch, width=width))
    rows = held_out // batch
    samples = tuple(pictures[: rows * batch].reshape(rows, batch, *shape, 1).astype(np.float32))
    return Trained(name=family, model=model, samples=samples, labels=labels[: rows * batch])


def _sized(picture: Array, shape: tuple[int, int]) -> Array:
    rows = np.arange(shape[0]) * picture.shape[0] // shape[0]
    columns = np.arange(shape[1]) * picture.shape[1] // shape[1]
    found: Array = picture[rows][:, columns].astype(np.float32)
    return found


def _fit_classes(model: bytes, pictures: Array, digits: Array) -> bytes:
    """The last dense layer, such that it tells the digits apart."""
    steps = outlive.read(model).subgraphs[0].operators
    last = next(step for step in reversed(steps) if step.type == "FULLY_CONNECTED")
    features = _features(model, last.inputs[0], pictures).reshape(len(pictures), -1)
    return _with_layer(model, last.index, features, np.eye(CLASSES)[digits])


def _fit_dots(model: bytes, pictures: Array, digits: Array, held_out: int) -> tuple[bytes, Array]:
    """The last convolution, such that it tells paper, even and odd digits apart, dot by dot."""
    ink = pictures[..., 0] > 0.4
    wanted = np.where(ink, 1 + (digits % 2)[:, None, None], 0)
    steps = outlive.read(model).subgraphs[0].operators
    last = next(step for step in reversed(steps) if step.type == "CONV_2D")
    features = _features(model, last.inputs[0], pictures[held_out : held_out + 300])
    scale = wanted.shape[1] // features.shape[1]
    near = wanted[held_out : held_out + 300, scale // 2 :: scale, scale // 2 :: scale]
    made = _with_layer(model, last.index, features.reshape(-1, features.shape[-1]), np.eye(3)[near.ravel()])
    return made, wanted[:held_out]


def _features(model: bytes, tensor: int, pictures: Array) -> Array:
    part = outlive.cut(model, outputs=[tensor])
    with outlive.Interpreter(model_content=part.model) as engine:
        engine.allocate_tensors()
        given, made = engine.get_input_details()[0]["index"], engine.get_output_details()[0]["index"]
        found = []
        for picture in pictures:
            engine.set_tensor(given, picture[None].astype(np.float32))
            engine.invoke()
            found.append(engine.get_tensor(made)[0])
    return np.stack(found)


def _with_layer(model: bytes, op: int, features: Array, wanted: Array) -> bytes:
    """The model with the weights of one layer fitted: least squares with a ridge."""
    mean, spread = features.mean(0), features.std(0) + 1e-6
    scaled = (features - mean) / spread
    inner = scaled.T @ scaled + _RIDGE * len(scaled) * np.eye(scaled.shape[1])
    answers = wanted - wanted.mean(0)
    layer = np.linalg.solve(inner, scaled.T @ answers)
    weights = _GAIN * (layer / spread[:, None]).T
    bias = _GAIN * wanted.mean(0) - weights @ mean
    tree = tree_of(memoryview(model))
    main = tree["subgraphs"][0]
    step = main["operators"][op]
    for tensor, values in zip(step["inputs"][1:3], (weights, bias), strict=True):
        row = main["tensors"][tensor]
        data = np.ascontiguousarray(values.reshape(row["shape"]), np.float32)
        tree["buffers"][row["buffer"]] = {"data": data}
    return write(tree)


def _carried_over(model: bytes, other: bytes) -> bytes:
    """The same weights in a file of another batch: both have their constants in one order."""
    tree, filled = tree_of(memoryview(other)), tree_of(memoryview(model))
    return write({**tree, "buffers": filled["buffers"]})
