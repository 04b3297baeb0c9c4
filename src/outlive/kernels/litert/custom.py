"""Custom operators that LiteRT's own resolvers know, with options in a FlexBuffer; and RFFT2D."""

from __future__ import annotations

import math
from dataclasses import replace

from outlive.kernels.flexbuffers import read_options
from outlive.kernels.litert.kernel import (
    HeapUse,
    LiteRTKernel,
    PreparedOutputs,
    Slots,
    always,
    as_first_input,
    as_in_file,
    dynamic_unless_known,
    shaped,
    slot,
)
from outlive.kernels.litert.tensor_table import PreparedOutput, Where
from outlive.kernels.litert.view import PrepareView, Unprepared, require
from outlive.kernels.view import Shape

# Per box: its best score, room to sort by it, a flag. Per box kept, of which there are at most as many: its
# score and its place, in vectors that double; what these had before stays behind, and holds their order.
_BYTES_PER_BOX, _BYTES_PER_BOX_KEPT = 9, 16


def _options(view: PrepareView, *names: str) -> tuple[int, ...]:
    options = read_options(view.operator.custom_options)
    require(bool(options.named))
    return tuple(options.get(name) for name in names)


def _detection_shapes(view: PrepareView) -> PreparedOutputs:
    """Boxes, classes, scores and their number: tflite/kernels/detection_postprocess.cc."""
    detections, classes = _options(view, "max_detections", "max_classes_per_detection")
    boxes = detections * classes
    require(boxes >= 0)
    shapes: tuple[Shape, ...] = ((1, boxes, 4), (1, boxes), (1, boxes), (1,))
    return tuple(PreparedOutput(shape=shape, dtype="float32") for shape in shapes)


def _detection_temporaries(view: PrepareView) -> Slots:
    """Boxes and scores as floats whatever the input: tflite/kernels/detection_postprocess.cc."""
    boxes, scores = view.dims(view.needed(0), 3), view.dims(view.needed(1), 3)
    copied = view.needed(1).dtype != "float32"  # scores that are floats are read where they are
    return Slots(
        at_init=(
            slot((boxes[1], 4), "float32", name="decoded_boxes"),
            replace(slot(scores[1:], "float32", name="scores"), written=copied),
        )
    )


def _detection_heap(view: PrepareView) -> HeapUse:
    """The classes of each box in order, and boxes to choose from: tflite/kernels/detection_postprocess.cc."""
    shape = view.shape(1)
    require(len(shape) == 3)
    options = read_options(view.operator.custom_options)
    classes = 0 if options.get("use_regular_nms") else min(shape[2], options.get("num_classes", shape[2]))
    kept = 1 << (shape[1] - 1).bit_length() if shape[1] > 0 else 0
    return HeapUse(each=shape[1] * (4 * classes + _BYTES_PER_BOX) + kept * _BYTES_PER_BOX_KEPT)


def _audio_spectrogram_shape(view: PrepareView) -> PreparedOutputs:
    """Channels, windows, half the next power of two and one: tflite/kernels/audio_spectrogram.cc."""
    window, stride = _options(view, "window_size", "stride")
    samples, channels = view.shape(0)
    require(window >= 2 and stride >= 1)
    windows = 1 + (samples - window) // stride if samples >= window else 0
    return shaped((channels, windows, 1 + (1 << (window - 1).bit_length()) // 2))


def _mfcc_shape(view: PrepareView) -> PreparedOutputs:
    """As many coefficients as asked for: tflite/kernels/mfcc.cc."""
    (count,) = _options(view, "dct_coefficient_count")
    channels, samples, _ = view.shape(0)
    return shaped((channels, samples, count))


def _numeric_verify_temporaries(view: PrepareView) -> Slots:
    """The dequantized input, on the heap: tflite/kernels/numeric_verify.cc."""
    source = view.dims(view.needed(0))
    return Slots(at_prepare=(slot(source, "float32", "dynamic", name="dequantized"),))


def _rfft_2d_shape(view: PrepareView) -> PreparedOutputs:
    """Half the columns and one: tflite/kernels/rfft2d.cc."""
    rows, columns = view.values(1)
    return (PreparedOutput(shape=(*view.shape(0)[:-2], rows, columns // 2 + 1)),)


def _rfft_2d_temporaries(view: PrepareView) -> Slots:
    """Four work areas, doubles kept as int64: tflite/kernels/rfft2d.cc."""
    late = not view.known(1)
    height, width = _transform_lengths(view)
    working = max(height, width // 2)
    where: Where = "dynamic" if late else "arena"
    return Slots(
        at_prepare=(
            slot((2 + math.isqrt(working),), "int32", where, name="fft_integer_area", at_invoke=late),
            slot((working // 2 + width // 4,), "int64", where, name="fft_double_area", at_invoke=late),
            slot((height,), "int64", where, name="fft_rows", at_invoke=late),
            slot((height, width + 2), "int64", where, name="fft_data", at_invoke=late),
        )
    )


def _transform_lengths(view: PrepareView) -> tuple[int, int]:
    """What the second input says, or what the output's shape implies."""
    known = view.readable(1)
    if known is not None and len(known) == 2 and min(known) > 0:
        return known[0], known[1]
    shape = view.shape_of(view.produced())
    if len(shape) < 2 or min(shape) < 0:
        raise Unprepared("lengths of the transform are not known")
    return shape[-2], max(shape[-1] - 1, 0) * 2


# The resolvers of the released package know these custom operators: tflite/core/kernels/register.cc.
CUSTOM_KERNELS = {
    "TFLite_Detection_PostProcess": LiteRTKernel(
        shapes=_detection_shapes, temporaries=_detection_temporaries, heap=_detection_heap
    ),
    "AudioSpectrogram": LiteRTKernel(shapes=_audio_spectrogram_shape),
    "Mfcc": LiteRTKernel(shapes=_mfcc_shape),
    "NumericVerify": LiteRTKernel(
        shapes=as_first_input,
        typed_by="float32",
        home=always("persistent"),
        temporaries=_numeric_verify_temporaries,
    ),
    # The kernel does not touch its output's shape: tflite/kernels/hadamard_rotation.cc.
    "aeq.hadamard_rotation": LiteRTKernel(shapes=as_in_file),
}
KERNELS = {
    **CUSTOM_KERNELS,
    "RFFT2D": LiteRTKernel(
        shapes=_rfft_2d_shape, home=dynamic_unless_known(1), temporaries=_rfft_2d_temporaries
    ),
}
