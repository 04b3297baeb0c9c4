"""the size of tensors is known in a run only

What it checks
    Operators whose output gets its size from data, such as WHERE, UNIQUE, or a RESHAPE to a shape that is
    computed.

Why it matters
    Behind them the runtime allocates while it runs, XNNPACK leaves the rest to slower kernels, and
    accelerators (GPU, NPU) refuse the graph.

What to do
    Give inputs a fixed shape, and compute sizes when you convert.

Limits
    It hurts only if you want an accelerator, or memory that does not change. Loops and branches are not
    looked into.
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
    facts = [f"{op.name} gives a tensor of a size that depends on data" for op in found[:5]]
    if len(found) > len(facts):
        facts.append(f"{len(found) - len(facts)} more")
    yield Sighting(
        where=file_name(model.path),
        evidence=tuple(Evidence(fact, "shapes and values in the file") for fact in facts),
        why="accelerators plan their memory before a run, and refuse what they cannot plan",
        remedies=(Remedy("convert with fixed shapes, if an accelerator is to run it", Tag.CHANGES_MODEL),),
    )


def _is_sized_late(op: PreparedOperator) -> bool:
    return any(
        (tensor := op.tensor(slot)) is not None
        and op.table.where[tensor.index] == "dynamic"
        and tensor.dtype not in UNSIZED
        for slot in op.slots("o*")
    )
