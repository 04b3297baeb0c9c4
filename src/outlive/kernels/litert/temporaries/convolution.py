"""Temporaries of CONV_2D, DEPTHWISE_CONV_2D and CONV_3D."""

from __future__ import annotations

from dataclasses import replace

from outlive.kernels.litert.temporaries.filling import (
    Shape,
    Unprepared,
    dims,
    elements,
    needed,
    number,
    output_length,
    slot,
    word,
)
from outlive.kernels.litert.temporary import Situation, Slots, Temporary
from outlive.model import Tensor

_HYBRID_FILTERS = ("uint8", "int8", "int4")


def conv_2d(situation: Situation) -> Slots | None:
    """Im2col, transposed weights, and what quantizing the input on the fly takes: tflite/kernels/conv.cc.

    The wheel registers the multithreaded kernel (TFLITE_WITH_MULTITHREADED_EIGEN), which transposes float
    weights instead of using im2col when it has more than one thread. On phones an im2col of 1 GiB and more
    is left out (IsMobilePlatform); this is the rule of all other machines.
    """
    source, filters = needed(situation, 0), needed(situation, 1)
    channels = dims(situation, source, 4)[3]
    weights = dims(situation, filters, 4)
    if not channels or 0 in weights or channels % weights[3]:
        raise Unprepared("channels of input and filter do not match")
    spatial = _spatial(situation, source, weights)
    hybrid = source.dtype == "float32" and filters.dtype in _HYBRID_FILTERS
    transposed = _takes_transposed_weights(situation, source, filters, hybrid)
    slots: list[Temporary] = []
    if not transposed and _needs_im2col(situation, weights, hybrid):
        dtype = source.dtype if not hybrid else "int8" if filters.dtype == "int4" else filters.dtype
        im2col = slot((*spatial, elements(weights[1:])), dtype, name="im2col")
        slots.append(replace(im2col, written=not _runs_reference(situation, source)))
    if transposed:
        slots.append(slot(weights, "float32", "persistent", name="Conv_hwcn_weights"))
    if hybrid:
        slots += _hybrid_conv(situation, source, filters, spatial)
    return Slots(at_prepare=tuple(slots))


def _spatial(situation: Situation, source: Tensor, weights: Shape) -> tuple[int, int, int]:
    batches, height, width, _ = dims(situation, source, 4)
    padding = word(situation, "padding")
    stride_h, stride_w = number(situation, "stride_h"), number(situation, "stride_w")
    dilation_h, dilation_w = number(situation, "dilation_h_factor"), number(situation, "dilation_w_factor")
    return (
        batches,
        output_length(padding, height, weights[1], stride_h, dilation_h),
        output_length(padding, width, weights[2], stride_w, dilation_w),
    )


def _is_dilated(situation: Situation) -> bool:
    return number(situation, "dilation_h_factor") != 1 or number(situation, "dilation_w_factor") != 1


def _takes_transposed_weights(situation: Situation, source: Tensor, filters: Tensor, hybrid: bool) -> bool:
    lasting = situation.constant_or_persistent(filters.index) or situation.arena_persistent(filters.index)
    multithreaded = not situation.reference and situation.threads != 1
    plain = source.dtype == "float32" and not hybrid and not _is_dilated(situation)
    return multithreaded and plain and lasting


def _needs_im2col(situation: Situation, weights: Shape, hybrid: bool) -> bool:
    if situation.reference and not hybrid:
        return False
    strided = number(situation, "stride_h") != 1 or number(situation, "stride_w") != 1
    return _is_dilated(situation) or strided or weights[1] != 1 or weights[2] != 1


def _runs_reference(situation: Situation, source: Tensor) -> bool:
    """EvalQuantizedPerChannel16x8: a bias of int64 has no fast kernel, and im2col is not filled."""
    bias = situation.input(2)
    return source.dtype == "int16" and (bias is None or bias.dtype != "int32")


def _hybrid_conv(
    situation: Situation, source: Tensor, filters: Tensor, spatial: tuple[int, int, int]
) -> list[Temporary]:
    shape, weights = situation.shape(source), situation.shape(filters)
    rows = elements(shape) // weights[3]
    slots = [
        slot(shape, "int8", name="input_quantized"),
        slot((rows,), "float32", name="scaling_factors"),
        slot((weights[0], elements(spatial)), "int32", name="accum_scratch"),
    ]
    grouped = shape[3] != weights[3]
    if grouped or _scales_differ(filters):
        slots.append(slot((rows,), "int32", name="input_offsets"))
        slots.append(slot((weights[0],), "int32", "persistent", name="Conv_row_sums"))
    return slots


def _scales_differ(filters: Tensor) -> bool:
    """Scales that are all equal count as one; in ai-edge-litert 2.3.0 not so for grouped convolutions."""
    scales = () if filters.quantization is None else filters.quantization.scales
    return filters.dtype in ("int8", "int4") and any(scale != scales[0] for scale in scales)


def depthwise_conv_2d(situation: Situation) -> Slots | None:
    """What quantizing the input on the fly takes, and nothing else: tflite/kernels/depthwise_conv.cc."""
    source, filters = needed(situation, 0), needed(situation, 1)
    if source.dtype != "float32" or filters.dtype != "int8":
        return Slots()
    shape = dims(situation, source, 4)
    return Slots(
        at_prepare=(
            slot(shape, "int8", name="input_quantized"),
            slot(shape[:1], "float32", name="scaling_factors"),
            slot(shape[:1], "int32", name="input_offsets"),
        )
    )


def conv_3d(situation: Situation) -> Slots | None:
    """Im2col, unless it is 1x1x1 with stride 1 or a reference kernel: tflite/kernels/conv3d.cc."""
    source, filters = needed(situation, 0), needed(situation, 1)
    shape, weights = dims(situation, source, 5), dims(situation, filters, 5)
    padding = word(situation, "padding")
    strides = [number(situation, f"stride_{axis}") for axis in "dhw"]
    dilations = [number(situation, f"dilation_{axis}_factor") for axis in "dhw"]
    if situation.reference or all(each == 1 for each in (*strides, *dilations, *weights[:3])):
        return Slots()
    spatial = [
        output_length(padding, size, window, stride, dilation)
        for size, window, stride, dilation in zip(shape[1:4], weights[:3], strides, dilations, strict=True)
    ]
    im2col = slot((shape[0], *spatial, elements(weights[:4])), source.dtype, name="im2col")
    return Slots(at_prepare=(im2col,))
