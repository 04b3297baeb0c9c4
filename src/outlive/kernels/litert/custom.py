"""Custom operators that LiteRT's own resolvers know, with options in a FlexBuffer; and RFFT2D.

Operators that keep state or call subgraphs, and those whose outputs depend on data.
"""

import math
from dataclasses import replace

from outlive.kernels.flexbuffers import read_options
from outlive.kernels.litert.kernel import (
    HeapUse,
    Home,
    LiteRTKernel,
    PreparedOutputs,
    Slots,
    always,
    as_first_input,
    as_in_file,
    dynamic_unless_known,
    shape_from,
    shaped,
    slot,
)
from outlive.kernels.litert.tensor_table import PreparedOutput, Where
from outlive.kernels.litert.view import PrepareView, Unprepared, require
from outlive.kernels.view import Shape

_HANDLE_BYTES = 4


def _var_handle(view: PrepareView) -> PreparedOutputs:
    """A number that stays: tflite/kernels/var_handle.cc."""
    return (PreparedOutput(size_bytes=_HANDLE_BYTES),)


def _read_variable_home(view: PrepareView) -> Home:
    """On the heap if the file gives it no rank: tflite/kernels/read_variable.cc."""
    return None if view.shape_of(view.produced()) else "dynamic"


def _hashtable(view: PrepareView) -> PreparedOutputs:
    """A handle, on the heap like every resource: tflite/kernels/hashtable.cc."""
    return (PreparedOutput(shape=(1,), size_bytes=_HANDLE_BYTES),)


def _hashtable_find(view: PrepareView) -> PreparedOutputs:
    """One answer for each key: tflite/kernels/hashtable_find.cc."""
    return shaped(view.shape(1))


def _hashtable_size(view: PrepareView) -> PreparedOutputs:
    """One number: tflite/kernels/hashtable_size.cc."""
    return shaped((1,))


def _hashtable_lookup(view: PrepareView) -> PreparedOutputs:
    """A row for each key, and whether it was found: tflite/kernels/hashtable_lookup.cc."""
    keys = view.shape(0)[0]
    return shaped((keys, *view.shape(2)[1:]), (keys,))


def _unique(view: PrepareView) -> PreparedOutputs:
    """How many there are is seen when it runs: tflite/kernels/unique.cc."""
    return (PreparedOutput(), PreparedOutput(shape=view.shape(0)))


def _multinomial(view: PrepareView) -> PreparedOutputs:
    """Batches by samples: tflite/kernels/random_ops.cc."""
    return shaped((view.shape(0)[0], view.values(1)[0]))


def _non_max_suppression(view: PrepareView) -> PreparedOutputs:
    """As many as are asked for, if that is known: tflite/kernels/non_max_suppression.cc."""
    chosen = PreparedOutput(shape=view.values(2)) if view.known(2) else PreparedOutput()
    require(chosen.shape is None or len(chosen.shape) == 1)
    return (chosen,) * (len(view.operator.outputs) - 1) + (PreparedOutput(shape=()),)


def _non_max_suppression_home(view: PrepareView) -> Home:
    """All outputs but the number of those selected have the greatest number as their length."""
    selected: Where | None = None if view.known(2) else "dynamic"
    return (selected,) * (len(view.operator.outputs) - 1) + (None,)


def _segments(view: PrepareView) -> PreparedOutputs:
    """As many rows as the last segment says: tflite/kernels/segment_sum.cc."""
    return shaped((view.values(1)[-1] + 1, *view.shape(0)[1:]))


def _unsorted_segments(view: PrepareView) -> PreparedOutputs:
    """As many rows as its third input says: tflite/kernels/unsorted_segment.cc."""
    return shaped((view.values(2)[0], *view.shape(0)[len(view.shape(1)) :]))


def _unsorted_segments_home(view: PrepareView) -> Home:
    moving = view.table.where[view.needed(0).index] == "dynamic"
    return None if view.known(1, 2) and not moving else "dynamic"


# Their outputs are as the subgraphs say that they call; of others nothing is known but the file's shapes.
_UNKNOWN = """IF WHILE STABLEHLO_CASE STABLEHLO_COMPOSITE STABLEHLO_GATHER STABLEHLO_PAD
STABLEHLO_RNG_BIT_GENERATOR LSH_PROJECTION SKIP_GRAM"""
_UNSORTED = ("UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_SUM")
_AS_IN_FILE = LiteRTKernel(shapes=as_in_file)
_RANDOM = LiteRTKernel(shapes=shape_from(0), home=dynamic_unless_known(0))  # tflite/kernels/random_ops.cc
_SUPPRESSION = LiteRTKernel(shapes=_non_max_suppression, home=_non_max_suppression_home)


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
    **dict.fromkeys(_UNKNOWN.split(), LiteRTKernel()),
    "DELEGATE": _AS_IN_FILE,  # what a delegate does; its shapes are given
    "ASSIGN_VARIABLE": _AS_IN_FILE,
    "CALL_ONCE": _AS_IN_FILE,
    "HASHTABLE_IMPORT": _AS_IN_FILE,
    "VAR_HANDLE": LiteRTKernel(shapes=_var_handle, home=always("persistent")),
    "READ_VARIABLE": LiteRTKernel(shapes=as_in_file, home=_read_variable_home),
    "HASHTABLE": LiteRTKernel(shapes=_hashtable),
    "HASHTABLE_FIND": LiteRTKernel(shapes=_hashtable_find),
    "HASHTABLE_SIZE": LiteRTKernel(shapes=_hashtable_size),
    "HASHTABLE_LOOKUP": LiteRTKernel(shapes=_hashtable_lookup),
    "RANDOM_UNIFORM": _RANDOM,
    "RANDOM_STANDARD_NORMAL": _RANDOM,
    "MULTINOMIAL": LiteRTKernel(shapes=_multinomial, home=dynamic_unless_known(0, 1)),
    "UNIQUE": LiteRTKernel(shapes=_unique, home=always(("dynamic", None))),
    "NON_MAX_SUPPRESSION_V4": _SUPPRESSION,
    "NON_MAX_SUPPRESSION_V5": _SUPPRESSION,
    "SEGMENT_SUM": LiteRTKernel(shapes=_segments, home=dynamic_unless_known(0, 1)),
    **dict.fromkeys(_UNSORTED, LiteRTKernel(shapes=_unsorted_segments, home=_unsorted_segments_home)),
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
