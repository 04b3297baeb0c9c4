"""What a model is given, beside what it wants: the fact that rules on inputs look at, and their words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from outlive.finding import Evidence
from outlive.model import Model, Operator, Quantization, Tensor, TensorCard
from outlive.rules.wording import operator_name
from outlive.units import format_shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from outlive.interpreter.array_facts import ArrayFacts

# What quantized inputs are stored as, and the numbers they can hold.
LEVELS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}
# Operators that hand on the values of their first input as they are.
_HANDING_ON = ("RESHAPE", "EXPAND_DIMS", "SQUEEZE", "CAST")
_MOST_STEPS = 64
# Inputs are normalised to about -1 to 1, 0 to 1, or by a deviation to -3 to 3.
_FEW = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenInput:
    """One input of the model with the array it is given."""

    tensor: Tensor
    seen: ArrayFacts
    array: NDArray[Any] = field(repr=False)
    card: TensorCard | None = None

    @property
    def place(self) -> str:
        """The input as `input "image", tensor 0`."""
        return f'input "{self.tensor.name}", tensor {self.tensor.index}'

    @property
    def evidence(self) -> Evidence:
        """The array in a line."""
        kind = f"{format_shape(self.seen.shape)} {self.seen.dtype}"
        if self.seen.minimum is None or self.seen.maximum is None:
            return Evidence(f"given {kind}", "inputs")
        spread = f"from {self.seen.minimum:.6g} to {self.seen.maximum:.6g}, mean {self.seen.mean:.4g}"
        return Evidence(f"given {kind}, {spread}", "inputs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A model, and the arrays it is given; inputs that nothing is given for are left out."""

    model: Model
    given: tuple[GivenInput, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRange:
    """The real numbers that a quantized input can hold, and where that is said."""

    low: float
    high: float
    scale: float
    source: str

    @property
    def evidence(self) -> Evidence:
        """The range in a line."""
        steps = f"in steps of {self.scale:.4g}"
        return Evidence(f"range {self.low:.4g} to {self.high:.4g} {steps}", self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedRange:
    """The real numbers an input was made for, and who says so; mean and deviation of the metadata."""

    low: float
    high: float
    source: str
    mean: float = 0.0
    std: float = 0.0


def quantized(tensor: Tensor) -> tuple[float, int] | None:
    """Scale and zero point of a tensor with small integers; None if it is not quantized as a whole."""
    found: Quantization | None = tensor.quantization
    if tensor.dtype not in LEVELS or found is None or len(found.scales) != 1 or not found.scales[0] > 0:
        return None
    return found.scales[0], found.zero_points[0] if found.zero_points else 0


def held_range(feed: Feed, given: GivenInput) -> HeldRange | None:
    """What the input can hold: by its own quantization, or that of the QUANTIZE behind it."""
    own = _held(given.tensor, f"tensor {given.tensor.index}")
    if own is not None or not given.tensor.dtype.startswith("float"):
        return own
    graph = feed.model.subgraphs[0]
    readers = [step for step in graph.operators if given.tensor.index in step.inputs]
    if len(readers) != 1 or readers[0].type != "QUANTIZE" or len(readers[0].outputs) != 1:
        return None
    index = readers[0].outputs[0]
    if not 0 <= index < len(graph.tensors):
        return None
    return _held(graph.tensors[index], operator_name(readers[0]))


def _held(tensor: Tensor, source: str) -> HeldRange | None:
    parameters = quantized(tensor)
    if parameters is None:
        return None
    (scale, zero), (least, most) = parameters, LEVELS[tensor.dtype]
    return HeldRange(low=scale * (least - zero), high=scale * (most - zero), scale=scale, source=source)


def expected_range(feed: Feed, given: GivenInput) -> ExpectedRange | None:
    """What the input was made for: what its metadata make of pixels 0 to 255, or what it can hold."""
    card = given.card
    if card is not None and card.mean and len(card.mean) == len(card.std) and min(card.std) > 0:
        pairs = list(zip(card.mean, card.std, strict=True))
        return ExpectedRange(
            low=min(-mean / std for mean, std in pairs),
            high=max((255 - mean) / std for mean, std in pairs),
            source="metadata: mean and standard deviation",
            mean=pairs[0][0],
            std=pairs[0][1],
        )
    held = held_range(feed, given)
    if held is None:
        return None
    return ExpectedRange(low=held.low, high=held.high, source=f"quantization, {held.source}")


def looks_like_bytes(feed: Feed, given: GivenInput) -> bool:
    """True if these are bytes of a picture as real numbers, for an input made for a few around 0."""
    least, most = given.seen.minimum, given.seen.maximum
    if not given.seen.is_float or least is None or most is None or not (least >= 0 and 32 < most <= 255):
        return False
    wanted = expected_range(feed, given)
    return wanted is not None and wanted.high <= _FEW


def uses(feed: Feed, given: GivenInput) -> Iterator[tuple[Operator, int]]:
    """Operators of the main subgraph that get the given values as they are, and in which place."""
    graph = feed.model.subgraphs[0]
    same = {given.tensor.index}
    for step in graph.operators:
        places = [place for place, index in enumerate(step.inputs) if index in same]
        yield from ((step, place) for place in places)
        if 0 in places and step.type in _HANDING_ON and len(same) < _MOST_STEPS:
            same |= set(step.outputs[:1])
