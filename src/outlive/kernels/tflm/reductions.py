"""Reductions: MEAN, SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL.

Source: reduce_common.cc of tensorflow/lite/micro/kernels.
"""

from __future__ import annotations

from outlive.kernels.tflm.context import MicroContext, MicroKernel


def mean_or_sum(k: MicroContext) -> None:
    """MEAN and SUM: an accumulator for each output element in int8 and int16."""
    input, output, axis = k.input(0), k.output(), k.input(1)
    if input.type in ("int8", "int16"):
        k.scratch(4 * output.elements)
    k.scratch(4 * input.rank)
    k.scratch(4 * axis.elements)
    _reduction(k)


def min_or_max(k: MicroContext) -> None:
    """REDUCE_MAX and REDUCE_MIN."""
    _reduction(k)
    input = k.input(0)
    k.output()
    axis = k.input(1)
    k.scratch(4 * input.rank)
    k.scratch(4 * axis.elements)


def reduce_all(k: MicroContext) -> None:
    """REDUCE_ALL."""
    input = k.input(0)
    k.output()
    axis = k.input(1)
    k.one_of(input, "input", "bool")
    _reduction(k)
    k.scratch(4 * input.rank)
    k.scratch(4 * axis.elements)


def _reduction(k: MicroContext) -> None:
    # PrepareSimple: the tensors are looked at once more.
    input = k.input(0)
    k.counts(2)
    axis = k.input(1)
    k.one_of(axis, "axis", "int32")
    if input.type == "int8":
        k.output()


KERNELS = {
    "MEAN": MicroKernel(mean_or_sum),
    "REDUCE_ALL": MicroKernel(reduce_all),
    "REDUCE_MAX": MicroKernel(min_or_max),
    "REDUCE_MIN": MicroKernel(min_or_max),
    "SUM": MicroKernel(mean_or_sum),
}
