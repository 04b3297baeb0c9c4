"""The kernel of each operator that LiteRT's own resolvers know, and what its rules say of one operator.

tflite/core/kernels/register.cc and tflite/kernels/register_ref.cc list the operators.
"""

import operator
from collections.abc import Callable
from dataclasses import replace

from outlive.kernels.litert import (
    convolution,
    custom,
    elementwise,
    matrices,
    recurrent,
    reshaping,
    slicing,
)
from outlive.kernels.litert.kernel import HeapUse, Home, LiteRTKernel, MatrixProduct, PreparedOutputs, Slots
from outlive.kernels.litert.tensor_table import UNSIZED, PreparedOutput, Values, Where
from outlive.kernels.litert.view import InvokeView, PrepareView, Unprepared

KERNELS: dict[str, LiteRTKernel] = {
    **convolution.KERNELS,
    **custom.KERNELS,
    **elementwise.KERNELS,
    **matrices.KERNELS,
    **recurrent.KERNELS,
    **reshaping.KERNELS,
    **slicing.KERNELS,
}
_UNKNOWN = LiteRTKernel()
# Operators on integers; DIV cuts off towards zero, as C++ does.
_Two = Callable[[int, int], int]
_PAIRS: dict[str, _Two] = {
    "ADD": operator.add,
    "SUB": operator.sub,
    "MUL": operator.mul,
    "DIV": lambda left, right: int(left / right),
    "FLOOR_DIV": operator.floordiv,
    "FLOOR_MOD": operator.mod,
    "MAXIMUM": max,
    "MINIMUM": min,
}
_UNCHANGED = frozenset({"CAST", "EXPAND_DIMS", "RESHAPE", "SQUEEZE"})


def kernel_of(name: str) -> LiteRTKernel:
    """The record of a kernel; one that knows nothing if there is none of that name."""
    return KERNELS.get(name, _UNKNOWN)


def prepared_outputs(view: PrepareView) -> PreparedOutputs | None:
    """What Prepare makes of the outputs, one for each; None where their shapes are not known."""
    kernel = kernel_of(view.operator.name)
    if kernel.shapes is None:
        return None
    count, home = len(view.operator.outputs), _home(view)
    try:
        outputs = (PreparedOutput(),) if home == "dynamic" else kernel.shapes(view)
    except (Unprepared, ValueError, IndexError, OverflowError):
        return None  # not as the kernel wants it: the runtime may refuse it, and no shape can be told
    outputs = outputs * count if len(outputs) == 1 else outputs
    if len(outputs) != count:
        return None
    if home is not None:
        homes = _for_each(home, count)
        outputs = tuple(replace(each, where=where) for each, where in zip(outputs, homes, strict=True))
    return _typed(view, kernel.typed_by, outputs)


def _for_each(home: Home, count: int) -> tuple[Where | None, ...]:
    return home[:count] + (None,) * (count - len(home)) if isinstance(home, tuple) else (home,) * count


def _home(view: PrepareView) -> Home:
    try:
        return kernel_of(view.operator.name).home(view)
    except (Unprepared, ValueError, IndexError, OverflowError):
        return None


def unshaped_outputs(view: PrepareView) -> PreparedOutputs:
    """What Prepare makes of the outputs where their shapes are not known: only where they live.

    Strings, resources and variants are always on the heap: SetTensorParametersReadWrite in
    tflite/core/subgraph.cc.
    """
    handle = view.operator.name == "VAR_HANDLE"
    found: list[PreparedOutput] = []
    for position, where in enumerate(_for_each(_home(view), len(view.operator.outputs))):
        tensor = view.output(position)
        unsized = tensor is not None and tensor.dtype in UNSIZED and not handle
        found.append(PreparedOutput(where="dynamic" if unsized else where))
    return tuple(found)


def _typed(view: PrepareView, by: int | str | None, outputs: PreparedOutputs) -> PreparedOutputs:
    """The first output with the type that Prepare gives it."""
    if not outputs or by is None or (isinstance(by, int) and view.input(by) is None):
        return outputs
    dtype = by if isinstance(by, str) else view.dtype(by)
    if dtype == view.output_dtype(0):
        return outputs
    return (replace(outputs[0], dtype=dtype), *outputs[1:])


def temporaries_of(view: PrepareView) -> Slots | None:
    """The slots an operator's kernel adds; None where they are not known."""
    kernel = KERNELS.get(view.operator.name)
    if kernel is None:
        return None
    try:
        return Slots() if kernel.temporaries is None else kernel.temporaries(view)
    except Unprepared:
        return None


def heap_use_of(view: PrepareView) -> HeapUse:
    """What an operator's kernel takes from the heap by itself when it runs."""
    rule = kernel_of(view.operator.name).heap
    try:
        return HeapUse() if rule is None else rule(view)
    except Unprepared:
        return HeapUse()  # the runtime refuses it before it runs


def product_of(view: PrepareView) -> MatrixProduct | None:
    """The product that an operator comes down to, if a library packs for it."""
    rule = kernel_of(view.operator.name).product
    try:
        return None if rule is None else rule(view)
    except Unprepared:
        return None


def invoked_outputs(view: InvokeView) -> PreparedOutputs | None:
    """What the outputs are when the operator runs, values included; None where that cannot be told.

    A dimension that the file leaves open is read by SHAPE, taken apart, computed with, put together for
    RESHAPE. The runtime prepares no further until it has run these operators; they are computed here.
    """
    outputs = prepared_outputs(view)
    values = None if not outputs or outputs[0].values is not None else _computed_values(view)
    if not outputs or values is None:
        return outputs
    return (replace(outputs[0], values=values), *outputs[1:])


def _computed_values(view: InvokeView) -> Values | None:
    """The integers in the first output; None where they do not follow from what is known."""
    name, count = view.operator.name, len(view.operator.inputs)
    if name in _PAIRS and count == 2:
        return _pairwise(_PAIRS[name], view.readable(0), view.readable(1))
    if name in _UNCHANGED:
        return view.readable(0)
    if name == "PACK" and not view.shape(0):
        parts = [view.readable(position) for position in range(count)]
        return None if None in parts else tuple(part[0] for part in parts if part)
    return None


def _pairwise(compute: _Two, left: Values | None, right: Values | None) -> Values | None:
    if not left or not right or len({len(left), len(right)} - {1}) > 1:
        return None
    size = max(len(left), len(right))
    rows = (row * size if len(row) == 1 else row for row in (left, right))
    try:
        return tuple(compute(a, b) for a, b in zip(*rows, strict=True))
    except ZeroDivisionError:
        return None
