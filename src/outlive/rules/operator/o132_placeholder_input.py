"""an input has a placeholder for a shape

What it checks
    Inputs of images, sound or text whose open dimensions are all 1 in the file, such as 1x1 for a
    sequence of any length.

Why it matters
    The model allocates as if one element were given: it fails in an operator that needs more, or computes
    on one.

What to do
    Resize the input before tensors are allocated: interpreter.resize_tensor_input(index, shape).

Limits
    It hurts unless one element is what you mean. Models with an open batch alone are left alone.
"""

from outlive.model import Model, Tensor
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.operator.o133_placeholder_refused import refusals
from outlive.rules.wording import file_name, tensor_name
from outlive.units import format_shape


@rule("O132", "placeholder-input", Severity.WARNING, since="0.1")
def placeholder_input(model: Model) -> Sightings:
    found = [tensor for tensor in model.inputs if _stands_in(tensor)]
    if not found or any(refusals(model)):  # O133 says more
        return
    facts = [
        f"{tensor_name(tensor)} is {format_shape(tensor.shape)}, open in {_open(tensor)} of its dimensions"
        for tensor in found[:5]
    ]
    yield Sighting(
        where=file_name(model.path),
        evidence=tuple(Evidence(fact, "shape signature") for fact in facts),
        why="it hurts if you give more than one element without resizing the input first",
        remedies=(Remedy("resize the input before tensors are allocated", Tag.SAME_RESULTS),),
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
