"""an operator does not take the size that stands for an open one

What it checks
    Models with open dimensions, at the sizes that the file has in their place, which are mostly 1: windows,
    channels, matrix sides, joined and stretched shapes, axes and indices of each operator.

Why it matters
    Unless somebody resizes the input first, these are the sizes that tensors are allocated with: the runtime
    refuses the model as it is.

What to do
    Resize the input before tensors are allocated: interpreter.resize_tensor_input(index, shape).
    `outlive run` takes the shape of the array that it is given.

Limits
    Only what follows from the inputs' shapes is looked at, not what a run computes.
"""

from itertools import islice

from outlive.model import Model
from outlive.rules.api import Evidence, Fault, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.operator.constant_demands import constant_faults
from outlive.rules.operator.prepared import PreparedOperator, operators_of, unresized_operators
from outlive.rules.operator.shape_demands import rank_faults, shape_faults
from outlive.rules.operator.size_demands import empty_faults, vanished_faults
from outlive.rules.wording import command, file_name, tensor_name
from outlive.units import format_shape


@rule("O133", "placeholder-refused", Severity.ERROR, since="0.1", cause="shape-mismatch")
def placeholder_refused(model: Model) -> Sightings:
    for op, fact in islice(refusals(model), 1):
        sizes = [tensor for tensor in model.inputs if tensor.is_dynamic]
        facts = [
            f"{tensor_name(tensor)} is {format_shape(tensor.shape)} in the file, and may be "
            f"{format_shape(tensor.shape_signature or ())}"
            for tensor in sizes[:4]
        ]
        run = command("outlive run", model.path, "--input", f"{sizes[0].name}=ARRAY.npy")
        yield Sighting(
            where=f"{file_name(model.path)}, {op.name}",
            evidence=tuple(Evidence(item, "file") for item in (fact, *facts)),
            why="tensors are allocated with the sizes in the file unless an input is resized first",
            remedies=(
                Remedy(
                    "resize the input before tensors are allocated",
                    Tag.SAME_RESULTS,
                    command=f"interpreter.resize_tensor_input({sizes[0].index}, SHAPE)",
                ),
                Remedy("run it on an array of the right shape", Tag.SAME_RESULTS, command=run),
            ),
            fault=Fault.INPUT,
            op=op.place,
        )


def refusals(model: Model) -> Iterator[tuple[PreparedOperator, str]]:
    """Operators that only the sizes in place of open ones make impossible, and why."""
    known = {op.operator.index: op for op in operators_of(model) if op.subgraph.index == 0}
    for op in unresized_operators(model):
        fact = next(_faults(op), None)
        if fact is not None and next(_faults(known[op.operator.index]), None) is None:
            yield op, fact


def _faults(op: PreparedOperator) -> Iterator[str]:
    for faults in (rank_faults, empty_faults, shape_faults, vanished_faults):
        yield from faults(op)
    if op.operator.type != "SLICE":  # XNNPACK takes one that reaches too far
        yield from constant_faults(op)
