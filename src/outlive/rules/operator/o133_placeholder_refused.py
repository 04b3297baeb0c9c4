"""Operator refuses the placeholder size of a dynamic dimension

What it checks
    Each operator accepts the sizes that the file has in place of dynamic dimensions, mostly 1: windows,
    channels, matrix dimensions, concatenated and broadcast shapes, axes and indices.

Why it matters
    Unless you resize the input first, the runtime allocates tensors with these sizes, and refuses the
    model.

What to do
    Resize the input before you allocate tensors: interpreter.resize_tensor_input(index, shape).
    `outlive run` uses the shape of the array that you pass.

Limits
    The rule checks only what follows from the inputs' shapes, not values that a run computes.
"""

from itertools import islice

from outlive.model import Model
from outlive.rules.api import Evidence, Fault, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.operator.constant_demands import constant_faults
from outlive.rules.operator.prepared import PreparedOperator, operators_of, unresized_operators
from outlive.rules.operator.shape_demands import rank_faults, shape_faults
from outlive.rules.operator.size_demands import empty_faults, vanished_faults
from outlive.rules.wording import command, file_name, operator_location, tensor_name
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
            value=fact.partition("; ")[0],
            where=f"{file_name(model.path)}, {operator_location(op.operator, op.subgraph)}",
            evidence=tuple(Evidence(item, "file") for item in (fact, *facts)),
            why="the runtime allocates the sizes in the file unless you resize the input",
            remedies=(
                Remedy(
                    "resize the input before you allocate tensors",
                    Tag.SAME_RESULTS,
                    command=f"interpreter.resize_tensor_input({sizes[0].index}, SHAPE)",
                ),
                Remedy("run the model on an array of the right shape", Tag.SAME_RESULTS, command=run),
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
