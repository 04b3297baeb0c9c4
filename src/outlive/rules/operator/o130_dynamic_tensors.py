"""Dynamic tensor sizes

What it checks
    No operator has an output whose size depends on data, such as WHERE, UNIQUE, or a RESHAPE to a
    computed shape.

Why it matters
    After such an operator the runtime allocates memory during the run, XNNPACK leaves the rest to
    slower kernels, and accelerators (GPU, NPU) refuse the graph.

What to do
    Give inputs a fixed shape, and compute sizes at conversion.

Limits
    This matters only if you need an accelerator or constant memory use. Loops and branches are not
    checked.
"""

from outlive.kernels.litert.tensor_table import UNSIZED
from outlive.model import Model
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.operator.prepared import PreparedOperator, operators_of
from outlive.rules.wording import file_name


@rule("O130", "dynamic-tensors", Severity.NOTE, since="0.1")
def dynamic_tensors(model: Model) -> Sightings:
    found = [op for op in operators_of(model) if _is_sized_late(op)]
    if not found:
        return
    facts = [f"{op.name} has an output whose size depends on data" for op in found[:5]]
    if len(found) > len(facts):
        facts.append(f"{len(found) - len(facts)} more")
    yield Sighting(
        value=facts[0],
        where=file_name(model.path),
        evidence=tuple(Evidence(fact, "shapes and values in the file") for fact in facts),
        why="accelerators plan memory before the run, and refuse dynamic sizes",
        remedies=(Remedy("convert it with fixed shapes if you need an accelerator", Tag.CHANGES_MODEL),),
    )


def _is_sized_late(op: PreparedOperator) -> bool:
    return any(
        (tensor := op.tensor(slot)) is not None
        and op.table.where[tensor.index] == "dynamic"
        and tensor.dtype not in UNSIZED
        for slot in op.slots("o*")
    )
