"""Two inputs, one output: ADD, SUB, MUL, DIV, comparisons and their kin.

Sources: add_common.cc, sub_common.cc, mul_common.cc, div.cc, add_n.cc, squared_difference.cc, comparisons.cc,
floor_div.cc, select.cc and others of tensorflow/lite/micro/kernels.
"""

from outlive.kernels.tflm.checks import (
    activation_range,
    below_one,
    divide,
    same_dims,
    unquantized,
    zero_points,
)
from outlive.kernels.tflm.context import MicroContext, MicroKernel, MicroTensor


def _two(k: MicroContext) -> tuple[MicroTensor, MicroTensor, MicroTensor]:
    return k.input(0), k.input(1), k.output()


def _sum_multipliers(k: MicroContext, first: MicroTensor, second: MicroTensor, output: MicroTensor) -> None:
    shift = 15 if output.type == "int16" else 20
    twice = 2 * max(first.scale, second.scale)
    below_one(k, divide(first.scale, twice))
    below_one(k, divide(second.scale, twice))
    below_one(k, divide(twice, (1 << shift) * output.scale))
    activation_range(k, output, k.fused)


def add(k: MicroContext) -> None:
    """ADD."""
    first, second, output = _two(k)
    if output.type in ("int8", "int16"):
        k.require(output.quantized, f"{output.type} output without quantization")
        _sum_multipliers(k, first, second, output)
    if output.type == "int32":
        unquantized(k, first, second)


def sub(k: MicroContext) -> None:
    """SUB."""
    first, second, output = _two(k)
    if output.type in ("int8", "int16"):
        _sum_multipliers(k, first, second, output)
    if output.type == "int32":
        unquantized(k, first, second, output)


def mul(k: MicroContext) -> None:
    """MUL, reference kernel."""
    first, second, output = _two(k)
    k.counts(2)
    k.same_type(first, second, "inputs")
    if output.type in ("int8", "int16"):
        activation_range(k, output, k.fused)
        if first.type == "int16":
            zero_points(k, 0, first, second, output)


def div(k: MicroContext) -> None:
    """DIV."""
    first, second, output = _two(k)
    k.same_type(first, second, "inputs")
    k.same_type(first, output)
    if output.type == "int8":
        activation_range(k, output, k.fused)
    if output.type == "int32":
        unquantized(k, first, second)


def add_n(k: MicroContext) -> None:
    """ADD_N: op data only for int8, one pointer of scratch for each input."""
    inputs = len(k.operator.inputs)
    k.require(inputs >= 2, "it has fewer than 2 inputs")
    k.require(len(k.operator.outputs) == 1, "it has not one output")
    first, output = k.input(0), k.output()
    k.same_type(first, output)
    for position in range(1, inputs):
        other = k.input(position)
        same_dims(k, first, other)
        k.same_type(first, other, "inputs")
        if first.type == "int8":
            alike = (first.zero_point, first.scale) == (other.zero_point, other.scale)
            k.require(alike, "inputs differ in quantization")
    k.one_of(output, "an output", "float32", "int8")
    if output.type == "int8":
        k.keep_struct("OpDataAddN")
    k.scratch(k.shared.abi.pointer_bytes * inputs)
    if output.type == "int8":
        twice = 2 * first.scale
        below_one(k, divide(first.scale, twice))
        below_one(k, divide(twice, (1 << 20) * output.scale))


def squared_difference(k: MicroContext) -> None:
    """SQUARED_DIFFERENCE."""
    k.counts(2)
    first, second, output = _two(k)
    k.same_type(first, second, "inputs")
    if first.type == "int16":
        zero_points(k, 0, first, second, output)
    if first.type == "int8":
        points = (first.zero_point, second.zero_point, output.zero_point)
        k.require(all(-128 <= point <= 127 for point in points), "a zero point does not fit int8")
    if first.type in ("int8", "int16"):
        twice = 2 * max(first.scale, second.scale)
        below_one(k, divide(first.scale, twice))
        below_one(k, divide(second.scale, twice))


def compare(k: MicroContext) -> None:
    """EQUAL, LESS and the like: int8 scales must lie between 0 and 1."""
    first, second = k.input(0), k.input(1)
    if first.type == "int8":
        below_one(k, first.scale)
        below_one(k, second.scale)


def floor_divide(k: MicroContext) -> None:
    """FLOOR_DIV and FLOOR_MOD."""
    k.counts(2)
    first, second, output = _two(k)
    k.same_type(first, second, "inputs")
    k.same_type(first, output)


def select(k: MicroContext) -> None:
    """SELECT_V2."""
    k.counts(3)
    condition, first, second = k.input(0), k.input(1), k.input(2)
    output = k.output()
    k.one_of(condition, "a condition", "bool")
    k.same_type(first, second, "inputs")
    scalars = all(tensor.elements == 1 for tensor in (condition, first, second, output))
    if not scalars and not condition.dims == first.dims == second.dims:
        _broadcast(k, (condition, first, second), output)


def _broadcast(k: MicroContext, inputs: tuple[MicroTensor, ...], output: MicroTensor) -> None:
    rank = max(tensor.rank for tensor in inputs)
    k.require(rank == output.rank, "the output has not the rank of its inputs")
    for place in range(1, rank + 1):
        sizes = [tensor.dims[-place] if place <= tensor.rank else 1 for tensor in inputs]
        size = 0 if 0 in sizes else max(sizes)
        fits = all(one in (1, size) for one in sizes) and output.dims[-place] == size
        k.require(fits, "the shapes cannot be broadcast to the output's")


def prelu(k: MicroContext) -> None:
    """PRELU."""
    k.input(0)
    alpha, output = k.input(1), k.output()
    if output.type == "int16":
        k.one_of(alpha, "alpha of an int16 PRELU", "int8")


KERNELS = {
    "ADD": MicroKernel(add),
    "ADD_N": MicroKernel(add_n),
    "DIV": MicroKernel(div),
    **dict.fromkeys(
        ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"), MicroKernel(compare)
    ),
    "FLOOR_DIV": MicroKernel(floor_divide),
    "FLOOR_MOD": MicroKernel(floor_divide),
    "MUL": MicroKernel(mul),
    "PRELU": MicroKernel(prelu),
    "SELECT_V2": MicroKernel(select),
    "SQUARED_DIFFERENCE": MicroKernel(squared_difference),
    "SUB": MicroKernel(sub),
}
