"""Convolutions and pooling: CONV_2D, DEPTHWISE_CONV_2D, CONV_3D, their transposed forms, the pools."""

from dataclasses import replace

from outlive.kernels.litert.kernel import (
    HeapUse,
    LiteRTKernel,
    PreparedOutputs,
    Slots,
    dynamic_unless_constant,
    dynamic_unless_known,
    shape_from,
    shaped,
    slot,
)
from outlive.kernels.litert.matrices import library_product, unpacked_weights
from outlive.kernels.litert.tensor_table import Temporary
from outlive.kernels.litert.view import PrepareView, Unprepared, elements, require
from outlive.kernels.view import Shape
from outlive.model import Tensor

_HYBRID_FILTERS = ("uint8", "int8", "int4")


def _windows(view: PrepareView, letter: str, size: int, window: int, *, dilated: bool = True) -> int:
    """How many windows fit along one side: ComputeOutSize, tflite/kernels/padding.h."""
    stride = view.number(f"stride_{letter}", 1)
    dilation = view.number(f"dilation_{letter}_factor", 1) if dilated else 1
    require(size >= 0 and window > 0 and stride > 0 and dilation > 0)
    padding = view.text("padding")
    if padding == "SAME":
        return (size + stride - 1) // stride
    require(padding == "VALID")
    count = (size + stride - ((window - 1) * dilation + 1)) // stride
    require(count >= 0)
    return count


def _image(view: PrepareView, channels: int) -> PreparedOutputs:
    source, filters = view.shape(0), view.shape(1)
    require(len(source) == 4 and len(filters) == 4)
    sides = (_windows(view, letter, source[axis], filters[axis]) for axis, letter in ((1, "h"), (2, "w")))
    return shaped((source[0], *sides, filters[channels]))


def _conv_2d_shape(view: PrepareView) -> PreparedOutputs:
    """Batch, rows, columns, filters: tflite/kernels/conv.cc."""
    return _image(view, 0)


def _depthwise_conv_2d_shape(view: PrepareView) -> PreparedOutputs:
    """As a convolution, its channels last in the filter: tflite/kernels/depthwise_conv.cc."""
    return _image(view, 3)


def _pool_2d_shape(view: PrepareView) -> PreparedOutputs:
    """Batch, rows, columns, channels: tflite/kernels/pooling.cc."""
    source = view.shape(0)
    require(len(source) == 4)
    height = _windows(view, "h", source[1], view.number("filter_height", 1), dilated=False)
    width = _windows(view, "w", source[2], view.number("filter_width", 1), dilated=False)
    return shaped((source[0], height, width, source[3]))


def _conv_3d_shape(view: PrepareView) -> PreparedOutputs:
    """Batch, depth, rows, columns, filters: tflite/kernels/conv3d.cc."""
    source, filters = view.shape(0), view.shape(1)
    require(len(source) == 5 and len(filters) == 5)
    sides = (_windows(view, letter, source[axis + 1], filters[axis]) for axis, letter in enumerate("dhw"))
    return shaped((source[0], *sides, filters[4]))


def _conv_2d_temporaries(view: PrepareView) -> Slots:
    """Im2col, transposed weights, and what quantizing the input on the fly takes: tflite/kernels/conv.cc.

    The wheel registers the multithreaded kernel (TFLITE_WITH_MULTITHREADED_EIGEN), which transposes float
    weights instead of using im2col when it has more than one thread. On phones an im2col of 1 GiB and more
    is left out (IsMobilePlatform); this is the rule of all other machines.
    """
    source, filters = view.needed(0), view.needed(1)
    channels, weights = view.dims(source, 4)[3], view.dims(filters, 4)
    if not channels or 0 in weights or channels % weights[3]:
        raise Unprepared("channels of input and filter do not match")
    batches, height, width, _ = view.dims(source, 4)
    spatial = batches, _reach(view, "h", height, weights[1]), _reach(view, "w", width, weights[2])
    hybrid = source.dtype == "float32" and filters.dtype in _HYBRID_FILTERS
    transposed = _takes_transposed_weights(view, source, hybrid)
    slots: list[Temporary] = []
    if not transposed and _needs_im2col(view, weights, hybrid):
        dtype = source.dtype if not hybrid else "int8" if filters.dtype == "int4" else filters.dtype
        im2col = slot((*spatial, elements(weights[1:])), dtype, name="im2col")
        slots.append(replace(im2col, written=not _runs_reference(view, source)))
    if transposed:
        slots.append(slot(weights, "float32", "persistent", name="Conv_hwcn_weights"))
    if hybrid:
        slots += _hybrid_conv(view, source, filters, spatial)
    return Slots(at_prepare=tuple(slots))


def _reach(view: PrepareView, letter: str, size: int, window: int) -> int:
    """ComputeOutSize again, without a look at its sign."""
    stride, dilation = view.number(f"stride_{letter}"), view.number(f"dilation_{letter}_factor")
    if stride <= 0 or dilation <= 0:
        raise Unprepared("stride or dilation is not positive")
    padding = view.text("padding")
    if padding == "SAME":
        return (size + stride - 1) // stride
    if padding == "VALID":
        return max((size + stride - ((window - 1) * dilation + 1)) // stride, 0)
    raise Unprepared(f"padding {padding!r}")


def _is_dilated(view: PrepareView) -> bool:
    return view.number("dilation_h_factor") != 1 or view.number("dilation_w_factor") != 1


def _takes_transposed_weights(view: PrepareView, source: Tensor, hybrid: bool) -> bool:
    lasting = view.known(1) or view.table.persistent(view.index(1))
    multithreaded = not view.reference and view.threads != 1
    plain = source.dtype == "float32" and not hybrid and not _is_dilated(view)
    return multithreaded and plain and lasting


def _needs_im2col(view: PrepareView, weights: Shape, hybrid: bool) -> bool:
    if view.reference and not hybrid:
        return False
    strided = view.number("stride_h") != 1 or view.number("stride_w") != 1
    return _is_dilated(view) or strided or weights[1] != 1 or weights[2] != 1


def _runs_reference(view: PrepareView, source: Tensor) -> bool:
    """EvalQuantizedPerChannel16x8: a bias of int64 has no fast kernel, and im2col is not filled."""
    bias = view.input(2)
    return source.dtype == "int16" and (bias is None or bias.dtype != "int32")


def _hybrid_conv(view: PrepareView, source: Tensor, filters: Tensor, spatial: Shape) -> list[Temporary]:
    shape, weights = view.shape_of(source), view.shape_of(filters)
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
    """Scales that are all equal count as one, but for grouped convolutions."""
    scales = () if filters.quantization is None else filters.quantization.scales
    return filters.dtype in ("int8", "int4") and any(scale != scales[0] for scale in scales)


def _depthwise_conv_2d_temporaries(view: PrepareView) -> Slots:
    """What quantizing the input on the fly takes, and nothing else: tflite/kernels/depthwise_conv.cc."""
    source, filters = view.needed(0), view.needed(1)
    if source.dtype != "float32" or filters.dtype != "int8":
        return Slots()
    shape = view.dims(source, 4)
    return Slots(
        at_prepare=(
            slot(shape, "int8", name="input_quantized"),
            slot(shape[:1], "float32", name="scaling_factors"),
            slot(shape[:1], "int32", name="input_offsets"),
        )
    )


def _depthwise_conv_2d_heap(view: PrepareView) -> HeapUse:
    """Twice the bytes of the weights, filled with zeros: tflite/kernels/depthwise_conv.cc."""
    source, weights = view.needed(0), view.needed(1)
    return HeapUse(each=2 * view.bytes(weights)) if source.dtype == "int8" else HeapUse()


def _conv_3d_temporaries(view: PrepareView) -> Slots:
    """Im2col, unless it is 1x1x1 with stride 1 or a reference kernel: tflite/kernels/conv3d.cc."""
    source = view.needed(0)
    shape, weights = view.dims(source, 5), view.dims(view.needed(1), 5)
    steps = [view.number(f"{name}_{axis}{end}") for name, end in _STEPS for axis in "dhw"]
    if view.reference or all(each == 1 for each in (*steps, *weights[:3])):
        return Slots()
    spatial = (_reach(view, axis, shape[place + 1], weights[place]) for place, axis in enumerate("dhw"))
    im2col = slot((shape[0], *spatial, elements(weights[:4])), source.dtype, name="im2col")
    return Slots(at_prepare=(im2col,))


_STEPS = (("stride", ""), ("dilation", "_factor"))


def _transpose_conv_temporaries(view: PrepareView) -> Slots:
    """Col2im, transposed weights and sums on the heap, hybrid scratch in the arena.

    The output's shape must be a constant of the file (IsConstantTensor) to be known at Prepare:
    tflite/kernels/transpose_conv.cc.
    """
    weights, source = view.needed(1), view.needed(2)
    shape, filters = view.dims(source, 4), view.dims(weights, 4)
    unknown = not view.constant(0)
    slots: list[Temporary] = []
    if not view.reference:
        columns = (elements(shape[1:3]), elements(filters[:3]))
        slots.append(slot(columns, "float32", "dynamic", name="col2im", at_invoke=unknown))
        late = not view.constant(1)
        slots.append(slot(filters, weights.dtype, "dynamic", name="transposed_weights", at_invoke=late))
    if source.dtype in ("uint8", "int8", "int16"):
        sums = tuple(max(size, 0) for size in view.shape_of(view.produced()))
        slots.append(slot(sums, _sum_type(view, source), "dynamic", name="scratch", at_invoke=unknown))
    if source.dtype == "float32" and weights.dtype == "int8":
        slots += _hybrid_transposed(shape, filters[3])
    return Slots(at_prepare=tuple(slots))


def _sum_type(view: PrepareView, source: Tensor) -> str:
    if source.dtype != "int16":
        return "int32"
    chosen = view.text("quantized_bias_type").lower()
    return chosen if chosen in ("int32", "int64") else "int64"


def _hybrid_transposed(shape: Shape, channels: int) -> list[Temporary]:
    if not channels:
        raise Unprepared("no channels")
    rows = elements(shape) // channels
    return [
        slot(shape, "int8", name="input_quantized"),
        slot((rows,), "float32", name="scaling_factors"),
        slot((rows,), "int32", name="input_offsets"),
    ]


def _conv_3d_transpose_temporaries(view: PrepareView) -> Slots:
    """Col2im on the heap; dilated ones run the reference kernel: tflite/kernels/conv3d_transpose.cc."""
    shape, filters = view.dims(view.needed(2), 5), view.dims(view.needed(1), 5)
    if view.reference or any(view.number(f"dilation_{axis}_factor") > 1 for axis in "dhw"):
        return Slots()
    columns = (elements(shape[1:4]), elements(filters[:4]))
    col2im = slot(columns, "float32", "dynamic", name="col2im", at_invoke=not view.known(0))
    return Slots(at_prepare=(col2im,))


def _conv_2d_sides(data: Shape, weights: Shape, output: Shape) -> Shape:
    grouped = data[-1] != weights[-1]  # the reference kernel does these: tflite/kernels/conv.cc
    return weights[0], elements(weights[1:]), 0 if grouped else elements(output[:-1])


def _conv_3d_sides(data: Shape, weights: Shape, output: Shape) -> Shape:
    return weights[-1], elements(weights[:-1]), elements(output[:-1])


def _transposed_sides(data: Shape, weights: Shape, output: Shape) -> Shape:
    return elements(weights[:-1]), weights[-1], elements(data[1:-1])


_POOL = LiteRTKernel(shapes=_pool_2d_shape)

KERNELS = {
    "AVERAGE_POOL_2D": _POOL,
    "MAX_POOL_2D": _POOL,
    "L2_POOL_2D": _POOL,
    "CONV_2D": LiteRTKernel(
        shapes=_conv_2d_shape,
        temporaries=_conv_2d_temporaries,
        heap=unpacked_weights,
        product=library_product(0, 1, _conv_2d_sides),
    ),
    "DEPTHWISE_CONV_2D": LiteRTKernel(
        shapes=_depthwise_conv_2d_shape,
        temporaries=_depthwise_conv_2d_temporaries,
        heap=_depthwise_conv_2d_heap,
    ),
    # Weights of CONV_3D lie the other way round, which only ruy takes: tflite/kernels/cpu_backend_gemm.h.
    "CONV_3D": LiteRTKernel(
        shapes=_conv_3d_shape,
        temporaries=_conv_3d_temporaries,
        product=library_product(0, 1, _conv_3d_sides, eigen=False),
    ),
    # Its output's shape is the first input: tflite/kernels/transpose_conv.cc.
    "TRANSPOSE_CONV": LiteRTKernel(
        shapes=shape_from(0),
        home=dynamic_unless_constant(0),
        temporaries=_transpose_conv_temporaries,
        product=library_product(2, 1, _transposed_sides),
    ),
    "CONV_3D_TRANSPOSE": LiteRTKernel(
        shapes=shape_from(0),
        home=dynamic_unless_known(0),
        temporaries=_conv_3d_transpose_temporaries,
        product=library_product(2, 1, _transposed_sides),
    ),
}
