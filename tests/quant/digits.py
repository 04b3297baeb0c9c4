"""A network that was really trained, and the pictures it never saw: accuracy means something here.

`recorded/digits.tflite` is what tools/train_digits.py made; the pictures are in scikit-learn's package.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import outlive
from outlive.surgery import tree_of, write

DIGITS = (Path(__file__).parent / "recorded" / "digits.tflite").read_bytes()


def pictures() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Pictures to calibrate with, pictures to test with, and what those show."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = (digits.images[..., np.newaxis] / 16).astype(np.float32)
    return images[::2][:100], images[1::2], digits.target[1::2]


def accuracy(content: bytes, images: NDArray[Any], answers: NDArray[Any]) -> float:
    """The share of pictures whose digit the model finds; all of them in one batch."""
    with outlive.Interpreter(model_content=content) as engine:
        given, scores = engine.get_input_details()[0], engine.get_output_details()[0]
        engine.resize_tensor_input(given["index"], images.shape)
        engine.allocate_tensors()
        engine.set_tensor(given["index"], outlive.quantize_input(given, images))
        engine.invoke()
        found = engine.get_tensor(scores["index"])
    return float(np.mean(found.argmax(1) == answers))


def uneven(factor: float) -> bytes:
    """The same function with one channel of the first layer so many times larger, and taken back behind it.

    In float nothing changes, because a RELU does not mind; in 8 bits the other channels of that layer have
    to share what the large one leaves them.
    """
    tree = tree_of(memoryview(DIGITS))
    tensors, steps = tree["subgraphs"][0]["tensors"], tree["subgraphs"][0]["operators"]
    first, second = steps[0]["inputs"], steps[1]["inputs"]

    def change(index: int, where: Any, times: float) -> None:
        buffer, shape = tensors[index]["buffer"], tensors[index]["shape"]
        values = np.frombuffer(bytes(tree["buffers"][buffer]["data"]), np.float32).reshape(shape).copy()
        values[where] *= times
        tree["buffers"][buffer] = {"data": values}

    change(first[1], np.s_[0], factor)
    change(first[2], np.s_[0], factor)
    change(second[1], np.s_[..., 0], 1 / factor)
    return write(tree)
