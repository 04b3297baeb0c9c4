"""Input shape is a placeholder

What it checks
    No image, audio or text input has 1 in the file for every dynamic dimension, such as 1x1 for a
    sequence of any length.

Why it matters
    The runtime allocates the model for one element. The model fails in an operator that needs more, or
    computes with one element.

What to do
    Resize the input before you allocate tensors: interpreter.resize_tensor_input(index, shape).

Limits
    The finding does not apply if you mean one element. Models in which only the batch is dynamic are
    exempt.
"""

from outlive.model import Model, Tensor
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.operator.o133_placeholder_refused import refusals
from outlive.rules.wording import file_name, tensor_name
from outlive.units import format_shape, plural


@rule("O132", "placeholder-input", Severity.WARNING, since="0.1")
def placeholder_input(model: Model) -> Sightings:
    found = [tensor for tensor in model.inputs if _stands_in(tensor)]
    if not found or any(refusals(model)):  # O133 says more
        return
    facts = [
        f"{tensor_name(tensor)} is {format_shape(tensor.shape)} with {plural(_open(tensor), 'open size')}"
        for tensor in found[:5]
    ]
    yield Sighting(
        value=facts[0],
        where=file_name(model.path),
        evidence=tuple(Evidence(fact, "shape signature") for fact in facts),
        why="the model allocates for one element unless you resize the input first",
        remedies=(Remedy("resize the input before you allocate tensors", Tag.SAME_RESULTS),),
        fault=Fault.INPUT,
    )


def _open(tensor: Tensor) -> int:
    return (tensor.shape_signature or ()).count(-1)


def _stands_in(tensor: Tensor) -> bool:
    signature = tensor.shape_signature or ()
    if len(signature) != len(tensor.shape) or _open(tensor) == 0 or signature == (-1,):
        return False
    sizes = [size for size, side in zip(tensor.shape, signature, strict=True) if side == -1]
    # An open first dimension is a batch, of which one is what most people mean.
    return set(sizes) == {1} and signature[1:].count(-1) > 0
