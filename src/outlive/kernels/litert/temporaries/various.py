"""Temporaries of operators that stand alone: ADD_N, detection, window reductions, verification."""

from __future__ import annotations

from dataclasses import replace

from outlive.kernels.litert.temporaries.filling import Unprepared, dims, elements, needed, slot
from outlive.kernels.litert.temporary import Situation, Slots


def add_n(situation: Situation) -> Slots | None:
    """One copy of the sum for each thread that gets two inputs: tflite/kernels/add_n.cc."""
    first = needed(situation, 0)
    threads = min(max(1, len(situation.operator.inputs) // 2), max(situation.threads, 1))
    return Slots(at_init=(slot((threads, elements(dims(situation, first))), first.dtype, name="scratch"),))


def detection_postprocess(situation: Situation) -> Slots | None:
    """Boxes and scores as floats whatever the input: tflite/kernels/detection_postprocess.cc."""
    boxes, scores = dims(situation, needed(situation, 0), 3), dims(situation, needed(situation, 1), 3)
    copied = needed(situation, 1).dtype != "float32"  # scores that are floats are read where they are
    return Slots(
        at_init=(
            slot((boxes[1], 4), "float32", name="decoded_boxes"),
            replace(slot(scores[1:], "float32", name="scores"), written=copied),
        )
    )


def numeric_verify(situation: Situation) -> Slots | None:
    """The dequantized input, on the heap: tflite/kernels/numeric_verify.cc."""
    source = dims(situation, needed(situation, 0))
    return Slots(at_prepare=(slot(source, "float32", "heap", name="dequantized"),))


def stablehlo_reduce_window(situation: Situation) -> Slots | None:
    """The dilated input, and that one padded or cropped: tflite/kernels/stablehlo_reduce_window.cc."""
    source = needed(situation, 0)
    shape = dims(situation, source)
    dilations, padding = _numbers(situation, "base_dilations"), _numbers(situation, "padding")
    if len(dilations) != len(shape) or len(padding) != 2 * len(shape) or min((1, *dilations)) < 1:
        raise Unprepared("dilations or padding do not fit the input")
    dilated = [(size - 1) * step + 1 for size, step in zip(shape, dilations, strict=True)]
    padded = [size + padding[2 * axis] + padding[2 * axis + 1] for axis, size in enumerate(dilated)]
    return Slots(
        at_init=(slot(dilated, source.dtype, name="dilated"), slot(padded, source.dtype, name="padded"))
    )


def _numbers(situation: Situation, name: str) -> tuple[int, ...]:
    options = situation.operator.options
    found = None if options is None else options.get(name)
    if not isinstance(found, tuple):
        raise Unprepared(f"no option {name}")
    return tuple(int(each) for each in found)
