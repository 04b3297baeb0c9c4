"""Builds the keyword spotter of example 07, byte for byte: a small DS-CNN with twelve words.

    python examples/models/build.py

49 frames of 10 MFCC values go in; a convolution and four depthwise separable blocks with 64 channels follow.
Its weights are random, so it understands nothing; its memory is that of one that does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))

from model_sketch import Sketch  # noqa: E402

from outlive.surgery import write  # noqa: E402

WORDS, CHANNELS, BLOCKS = 12, 64, 4


def keyword_spotter() -> bytes:
    """The model's bytes."""
    sketch = Sketch("outlive example: a keyword spotter, DS-CNN, twelve words", seed=7)
    sound = sketch.activation("mfcc", [1, 49, 10, 1])
    x = sketch.conv(sound, "stem", CHANNELS, size=5, stride=2)
    for number in range(1, BLOCKS + 1):
        x = sketch.depthwise(x, f"block{number}/depthwise")
        x = sketch.conv(x, f"block{number}/pointwise", CHANNELS, size=1)
    bias = np.zeros(WORDS, np.float32)
    return write(sketch.tree(sound, sketch.classifier(x, "head", bias, gain=2.0)))


if __name__ == "__main__":
    (HERE / "keyword_spotter.tflite").write_bytes(keyword_spotter())
