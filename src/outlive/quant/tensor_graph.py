"""A subgraph as a comparison sees it: what each tensor comes from, conversions left out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from outlive.interpreter.affine import Affine
from outlive.model import Model, Operator, Tensor
from outlive.quant.error_statistics import Grid

# Operators that change how numbers are written, and not what they mean.
CONVERSIONS = ("QUANTIZE", "DEQUANTIZE")
_NUMERIC = "biuf"
# The output steps that the runtime prescribes, for 8 bits (tflite/kernels/activations.cc, l2norm.cc).
_FIXED_STEPS = {
    "SOFTMAX": 1 / 256,
    "LOGISTIC": 1 / 256,
    "TANH": 1 / 128,
    "L2_NORMALIZATION": 1 / 128,
    "LOG_SOFTMAX": 16 / 256,
}
# Operators whose output may have any scale; most others must keep that of their input, or have a fixed one.
_FREE_SCALE = (
    "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL", "ADD", "SUB", "MUL",
)  # fmt: skip
# Operators that hand on the values they get, and mix none of one channel with those of another.
_HANDING_ON = (
    *CONVERSIONS, "RESHAPE", "MAX_POOL_2D", "AVERAGE_POOL_2D", "PAD", "PADV2", "SLICE", "STRIDED_SLICE",
    "SPLIT", "TRANSPOSE", "SQUEEZE", "EXPAND_DIMS", "CONCATENATION", "RESIZE_BILINEAR", "RELU", "RELU6",
    "RESIZE_NEAREST_NEIGHBOR", "MEAN", "ADD", "HARD_SWISH", "LEAKY_RELU", "PRELU",
)  # fmt: skip
_RANDOM = ("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL", "STABLEHLO_RNG_BIT_GENERATOR")


def numpy_type(tensor: Tensor) -> np.dtype[np.generic] | None:
    """The numpy type of a tensor of plain numbers; None for text, handles and types numpy does not have."""
    try:
        found = np.dtype(tensor.dtype)
    except TypeError:
        return None
    return found if found.kind in _NUMERIC else None


def affine(tensor: Tensor) -> Affine:
    """How the tensor's integers stand for real numbers; parameters that make no sense are taken as none."""
    found, dtype = tensor.quantization, numpy_type(tensor) or np.dtype(object)
    scales = () if found is None else found.scales
    zeros = () if found is None else found.zero_points
    sound = all(scale > 0 and np.isfinite(scale) for scale in scales) and len(zeros) in (0, len(scales))
    fits = len(scales) < 2 or (
        found is not None and 0 <= found.axis < len(tensor.shape) and tensor.shape[found.axis] == len(scales)
    )
    if found is None or not sound or not fits:
        return Affine(name=tensor.name, dtype=dtype)
    return Affine(name=tensor.name, dtype=dtype, scales=scales, zero_points=zeros, axis=found.axis)


def grid(tensor: Tensor, op_type: str = "") -> Grid | None:
    """The integers of a tensor that is quantized as a whole; None if it is not."""
    found = affine(tensor)
    if not found.is_quantized or len(found.scales) != 1 or found.dtype.itemsize > 2:
        return None
    limits = np.iinfo(found.dtype)
    finer = 1 if found.dtype.itemsize == 1 else 128  # 16 bits: the same ranges, symmetric, in 1/32768
    return Grid(
        least=int(limits.min),
        most=int(limits.max),
        scale=found.scales[0],
        zero_point=found.zero_points[0] if found.zero_points else 0,
        fixed_step=_FIXED_STEPS.get(op_type, 0.0) / finer,
    )


def has_free_scale(step: Operator) -> bool:
    """True if the quantizer chooses the scale of the operator's output."""
    return step.type in _FREE_SCALE


class TensorGraph:
    """The main subgraph of a model, with the questions that pairing and capturing ask of it."""

    def __init__(self, model: Model) -> None:
        """Look at the main subgraph."""
        self.model = model
        self.subgraph = model.subgraphs[0]
        self.tensors = self.subgraph.tensors
        self.operators = self.subgraph.operators

    @cached_property
    def producers(self) -> dict[int, int]:
        """Which operator writes each tensor."""
        return self.subgraph.producers()

    @cached_property
    def constants(self) -> frozenset[int]:
        """Tensors whose value is in the file, or computed from nothing but such."""
        found = {tensor.index for tensor in self.tensors if tensor.is_constant}
        for step in self.operators:
            given = [index for index in step.inputs if index >= 0]
            if given and all(index in found for index in given) and not step.subgraphs():
                found.update(step.outputs)
        return frozenset(found)

    @cached_property
    def roots(self) -> dict[int, int]:
        """What each tensor is once conversions are left out: the tensor that was computed, or fed."""
        found = {tensor.index: tensor.index for tensor in self.tensors}
        for step in self.operators:
            if step.type in CONVERSIONS and len(step.inputs) == 1 and len(step.outputs) == 1:
                found[step.outputs[0]] = found.get(step.inputs[0], step.inputs[0])
        return found

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """Which operators read each tensor."""
        found: dict[int, list[int]] = {}
        for step in self.operators:
            for index in dict.fromkeys(step.inputs):
                found.setdefault(index, []).append(step.index)
        return found

    def users(self, tensor: int) -> Iterator[Operator]:
        """The operators that compute with a tensor, those that only hand it on followed to the next."""
        waiting, seen = [tensor], {tensor}
        while waiting:
            for index in self.readers.get(waiting.pop(), ()):
                step = self.operators[index]
                if step.type not in _HANDING_ON:
                    yield step
                    continue
                waiting += [out for out in step.outputs if out not in seen]
                seen.update(step.outputs)

    def computing(self) -> list[Operator]:
        """Operators that compute something from what is fed, in their order; conversions are left out."""
        return [
            step
            for step in self.operators
            if step.type not in CONVERSIONS and any(out not in self.constants for out in step.outputs)
        ]

    def activations(self, step: Operator) -> tuple[int | None, ...]:
        """The roots of an operator's inputs; None for constants and inputs left out."""
        return tuple(
            None if index < 0 or index in self.constants else self.roots[index] for index in step.inputs
        )

    def is_numeric(self, index: int) -> bool:
        """True if the tensor holds numbers that numpy knows."""
        return numpy_type(self.tensors[index]) is not None

    def why_not_alone(self, step: Operator) -> str:
        """Why an operator cannot be run by itself; empty if it can."""
        if step.subgraphs():
            return "it runs other subgraphs"
        if step.type in _RANDOM:
            return "its output is random"
        touched = [self.tensors[index] for index in (*step.inputs, *step.outputs) if index >= 0]
        if any(tensor.is_variable for tensor in touched):
            return "it keeps a state between runs"
        if any(not tensor.is_constant and numpy_type(tensor) is None for tensor in touched):
            return "it takes or gives values that are no plain numbers"
        return ""
