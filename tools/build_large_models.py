"""Generates models of the size people run, with random weights, to hold plans against what the runtime takes.

    python tools/build_large_models.py FOLDER [--only mobilenet] [--megabytes 5,20,60,300]

MobileNetV2, ResNet50, an EfficientNet-B0, a U-Net, transformer blocks and fused LSTMs at several sizes; each
in float32 (`float`), with float16 weights (`half`), with int8 weights only (`dynamic`) and in int8 throughout
(`int8`); some with int16 activations (`int16x8`) or weights of 4 bits (`int4` with a scale for each channel,
`block32` with one for each 32 weights, `weights4` computed in float).
Dense, LSTM, GRU, CONV_3D, sparse and open-shape networks of so many megabytes of float32 come from
`large_networks.py`, which needs TensorFlow and ai-edge-quantizer; what is not installed is said, and left
out. A name always means the same bytes, for one version of these packages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from canvas import Canvas
from large_networks import NETWORKS, PackageMissing, find_package, make, quantize

from outlive.atomic_files import write_whole

PRECISIONS = ("float", "half", "dynamic", "int8")
# Drawn for some families only: what a converter or ai-edge-quantizer makes of them as well.
_FEW = {"mobilenet": ("int16x8",), "resnet50": ("int16x8",), "transformer": ("int4", "block32", "weights4")}
_FOUR_BITS = ("int4", "block32", "weights4")
MEGABYTES = (5, 20, 60)


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


def fused_lstm(canvas: Canvas, units: int) -> bytes:
    """Two fused LSTM layers over 32 steps."""
    steps = canvas.activation([1, 32, units])
    return canvas.finish([steps], [canvas.lstm(canvas.lstm(steps, units), units)])


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
    precision: str
    draw: Callable[[str], bytes]

    def build(self) -> bytes:
        """The bytes of the model; `PackageMissing` if what it takes to make them is not installed."""
        return self.draw(self.precision)


def recipes(megabytes: Sequence[int] = MEGABYTES) -> Iterator[Recipe]:
    """All models, the smaller sizes first: drawn ones, then those of so many megabytes."""
    yield from _drawn()
    for size in megabytes:
        for family, (network, precisions) in NETWORKS.items():
            for precision in precisions:
                yield Recipe(
                    name=f"{family}_{size}MB_{precision}",
                    precision=precision,
                    draw=partial(make, network, size),
                )


def _draw(draw: Callable[[Canvas, int], bytes], size: int, precision: str) -> bytes:
    if precision not in _FOUR_BITS:
        return draw(Canvas(precision), size)
    find_package("ai_edge_quantizer", "quantize")
    return quantize(draw(Canvas("float"), size), precision)


def _drawn() -> Iterator[Recipe]:
    families: tuple[tuple[str, Callable[[Canvas, int], bytes], tuple[int, ...]], ...] = (
        ("mobilenet", mobilenet_v2, (96, 160, 224, 320)),
        ("resnet50", resnet50, (160, 224)),
        ("efficientnet", efficientnet, (160, 224)),
        ("unet", unet, (128, 256)),
        ("transformer", transformer, (128, 256, 512, 768)),
        ("fused-lstm", fused_lstm, (256, 512, 1024)),
    )
    for family, draw, sizes in families:
        for size in sizes:
            for precision in _precisions(family):
                name = f"{family}_{size}_{precision}"
                yield Recipe(name=name, precision=precision, draw=partial(_draw, draw, size))


def _precisions(family: str) -> tuple[str, ...]:
    """An LSTM of integers only has scales of its own, which are not drawn here."""
    return ("float", "dynamic") if family == "fused-lstm" else (*PRECISIONS, *_FEW.get(family, ()))


def main() -> None:
    """Write all models, or those whose name begins as asked, into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="the beginning of the names to build")
    parser.add_argument(
        "--megabytes",
        default=",".join(map(str, MEGABYTES)),
        help="sizes of the converted networks in float32",
    )
    arguments = parser.parse_args()
    for recipe in recipes([int(word) for word in arguments.megabytes.split(",")]):
        if recipe.name.startswith(arguments.only):
            build(recipe, arguments.folder)


def build(recipe: Recipe, folder: Path) -> Path | None:
    """The file of a model, made if it is not there yet; None, with words, if it cannot be made here."""
    path = folder / f"{recipe.name}.tflite"
    if not path.exists():
        try:
            data = recipe.build()
        except PackageMissing as error:
            print(f"{recipe.name}: not made: {error}", file=sys.stderr)
            return None
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    return path


if __name__ == "__main__":
    main()
