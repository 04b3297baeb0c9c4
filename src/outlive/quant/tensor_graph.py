"""A subgraph as a comparison sees it: what each tensor comes from, conversions left out.

Which tensors of two models mean the same: by name, by graph structure, and from the outputs backwards.

    names ──► operators of the same type that write tensors of the same name
    structure ──► operators of the same type whose inputs are paired already, front to back
    outputs ──► the same from the models' outputs, back to front

Quantizing and dequantizing in between does not count: what they give is paired with what they take.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from outlive.interpreter.affine import Affine
from outlive.model import Model, Operator, Tensor
from outlive.quant.drift import Unpaired
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
            return "runs other subgraphs"
        if step.type in _RANDOM:
            return "random output"
        touched = [self.tensors[index] for index in (*step.inputs, *step.outputs) if index >= 0]
        if any(tensor.is_variable for tensor in touched):
            return "keeps state between runs"
        if any(not tensor.is_constant and numpy_type(tensor) is None for tensor in touched):
            return "inputs or outputs are not numeric"
        return ""


_ALONE = "no matching operator by name, inputs or position"
_SUFFIXES = ("_int8", "_quantized", "_dequant", "_dequantize", "_requantized", ":0")


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorPair:
    """A tensor of the candidate and the one of the reference it stands for; the operators that write them.

    `reference_op` is None where only the names say that they belong together. `is_conversion`: the
    candidate's tensor is its partner written in another way.
    """

    candidate: int
    reference: int
    candidate_op: int | None = None
    reference_op: int | None = None
    by: str = "name"
    is_conversion: bool = False


class _Pairing:
    """What is paired so far: ours (the candidate's) with theirs (the reference's)."""

    def __init__(self, reference: TensorGraph, candidate: TensorGraph) -> None:
        self.theirs, self.ours = reference, candidate
        self.steps: dict[int, tuple[int, str]] = {}
        self.taken: set[int] = set()
        self.tensors = dict(_inputs(reference, candidate))

    def join(self, ours: Operator, theirs: Operator, by: str) -> bool:
        """Pair two operators, if they are free and look alike."""
        if ours.index in self.steps or theirs.index in self.taken or not self._alike(ours, theirs):
            return False
        self.steps[ours.index] = (theirs.index, by)
        self.taken.add(theirs.index)
        for mine, other in zip(ours.outputs, theirs.outputs, strict=True):
            self.tensors.setdefault(mine, other)
        return True

    def _alike(self, ours: Operator, theirs: Operator) -> bool:
        if ours.name != theirs.name or len(ours.outputs) != len(theirs.outputs):
            return False
        made = [self.ours.tensors[index] for index in ours.outputs]
        wanted = [self.theirs.tensors[index] for index in theirs.outputs]
        pairs = zip(made, wanted, strict=True)
        return all(mine.is_dynamic or other.is_dynamic or mine.shape == other.shape for mine, other in pairs)

    def by_name(self) -> None:
        """Operators of the same type that write tensors of the same name."""
        theirs = _written(self.theirs)
        for name, step in _written(self.ours).items():
            if name and name in theirs:
                self.join(step, theirs[name], "name")

    def by_structure(self) -> None:
        """Front to back: the same type of operator on inputs that are paired."""
        waiting: dict[tuple[str, tuple[int | None, ...]], list[Operator]] = defaultdict(list)
        for step in self.theirs.computing():
            waiting[step.name, self.theirs.activations(step)].append(step)
        for step in self.ours.computing():
            inputs = self.ours.activations(step)
            unpaired = any(index is not None and index not in self.tensors for index in inputs)
            if step.index in self.steps or unpaired:
                continue
            roots = self.theirs.roots
            theirs = tuple(None if index is None else roots[self.tensors[index]] for index in inputs)
            for other in waiting.get((step.name, theirs), ()):
                if self.join(step, other, "structure"):
                    break

    def from_outputs(self) -> None:
        """Back to front, from the outputs and from every pair found so far."""
        ours, theirs = self.ours, self.theirs
        ends = ours.subgraph.output_indices, theirs.subgraph.output_indices
        waiting: list[tuple[int, int]] = []
        if len(ends[0]) == len(ends[1]):
            waiting = [(ours.roots[mine], theirs.roots[other]) for mine, other in zip(*ends, strict=True)]
        for index, (other, _) in self.steps.items():
            waiting += self._arguments(ours.operators[index], theirs.operators[other])
        while waiting:
            mine, other = waiting.pop()
            if mine not in ours.producers or other not in theirs.producers:
                continue
            step, partner = ours.operators[ours.producers[mine]], theirs.operators[theirs.producers[other]]
            if self.join(step, partner, "structure"):
                waiting += self._arguments(step, partner)

    def _arguments(self, ours: Operator, theirs: Operator) -> list[tuple[int, int]]:
        pairs = zip(self.ours.activations(ours), self.theirs.activations(theirs), strict=False)
        return [(mine, other) for mine, other in pairs if mine is not None and other is not None]

    def lone_names(self) -> None:
        """Tensors of one name that different operators write: compared, but no operator is alone to blame."""
        taken = set(self.tensors.values())
        made = ((step, out) for step in self.theirs.computing() for out in step.outputs)
        names = {_bare(self.theirs.tensors[out].name): out for _, out in made}
        for out in (out for step in self.ours.computing() for out in step.outputs):
            other = names.get(_bare(self.ours.tensors[out].name))
            if out in self.tensors or other is None or other in taken:
                continue
            if self.ours.tensors[out].shape == self.theirs.tensors[other].shape:
                self.tensors[out] = other
                taken.add(other)

    def pairs(self) -> Iterator[TensorPair]:
        """All pairs, in the order of the candidate's operators."""
        for index in self.ours.subgraph.input_indices:
            if index in self.tensors:
                yield TensorPair(candidate=index, reference=self.tensors[index])
        for step in self.ours.operators:
            converts = step.type in CONVERSIONS and len(step.outputs) == 1
            other, by = self.steps.get(step.index, (None, "name"))
            for out in step.outputs:
                partner = self.tensors.get(self.ours.roots[out])
                if partner is not None and out not in self.ours.constants:
                    yield TensorPair(
                        candidate=out,
                        reference=partner,
                        candidate_op=step.index,
                        reference_op=None if converts else other,
                        by=by,
                        is_conversion=converts,
                    )


def pair_models(
    reference: TensorGraph, candidate: TensorGraph
) -> tuple[tuple[TensorPair, ...], tuple[Unpaired, ...]]:
    """The pairs in the order of the candidate's operators, and what has no partner."""
    pairing = _Pairing(reference, candidate)
    pairing.by_name()
    pairing.by_structure()
    pairing.from_outputs()
    pairing.by_structure()
    pairing.lone_names()
    pairs = tuple(pairing.pairs())
    unpaired = [
        *_unpaired("candidate", candidate, {pair.candidate for pair in pairs}),
        *_unpaired("reference", reference, {pair.reference for pair in pairs}),
    ]
    return pairs, tuple(unpaired)


def _inputs(reference: TensorGraph, candidate: TensorGraph) -> Iterator[tuple[int, int]]:
    """The candidate's inputs with the reference's: by name where every name is found, else by order."""
    theirs, ours = reference.subgraph.input_indices, candidate.subgraph.input_indices
    names = {_bare(reference.tensors[index].name): index for index in theirs}
    found = [names.get(_bare(candidate.tensors[index].name)) for index in ours]
    if None not in found and len(set(found)) == len(ours):
        yield from ((mine, index) for mine, index in zip(ours, found, strict=True) if index is not None)
    elif len(ours) == len(theirs):
        yield from zip(ours, theirs, strict=True)


def _bare(name: str) -> str:
    """A name without what converters put around it."""
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name.removeprefix("serving_default_")


def _written(graph: TensorGraph) -> dict[str, Operator]:
    """Operators by the (bare) name of their first output, where the name is the only one of its kind."""
    steps = [step for step in graph.computing() if step.outputs]
    names = [_bare(graph.tensors[step.outputs[0]].name) for step in steps]
    counts = Counter(names)
    return {name: step for name, step in zip(names, steps, strict=True) if counts[name] == 1}


def _unpaired(side: str, graph: TensorGraph, paired: set[int]) -> Iterator[Unpaired]:
    for step in graph.computing():
        for out in step.outputs:
            if out not in paired:
                name = graph.tensors[out].name
                yield Unpaired(name=name, index=out, model=side, op_type=step.name, reason=_ALONE)
