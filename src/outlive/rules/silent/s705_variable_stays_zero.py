"""Variable tensor never written

What it checks
    An operator writes each variable tensor that is read. Recurrent operators write their own states.

Why it matters
    The runtime sets variables to zero at allocation, and they silently stay zero: the model has no
    memory of earlier runs.

What to do
    Convert the model again, or check the tool that made it for the operator that should write the
    state.

Limits
    Variables that go to a custom operator or another graph are exempt: these may write them.
"""

from outlive.model import Model, Operator, Subgraph, Tensor
from outlive.rules.api import Evidence, Severity, Sighting, Sightings, rule
from outlive.rules.operator.graph_demands import STATE_SLOTS
from outlive.rules.operator.prepared import CONVERT_AGAIN
from outlive.rules.wording import operator_name, operator_place, tensor_name


@rule("S705", "variable-stays-zero", Severity.WARNING, since="0.1")
def variable_stays_zero(model: Model) -> Sightings:
    for graph in model.subgraphs:
        found = [(tensor, reader) for tensor in graph.tensors for reader in _only_readers(graph, tensor)]
        for tensor, reader in found[:1]:
            fact = f"{operator_name(reader, graph.index)} reads {tensor_name(tensor)}; no operator writes it"
            more = len({item.index for item, _ in found}) - 1
            others = (Evidence(f"{more} more", "file"),) if more else ()
            yield Sighting(
                where=tensor_name(tensor),
                evidence=(Evidence(fact, "file"), *others),
                why="the runtime initializes it with zeros, and it stays zero",
                remedies=(CONVERT_AGAIN,),
                op=operator_place(reader, graph.index),
            )


def _only_readers(graph: Subgraph, tensor: Tensor) -> tuple[Operator, ...]:
    """The operators that read a variable which nothing can write; none if something can."""
    if not tensor.is_variable or tensor.index in graph.input_indices:
        return ()
    users = [step for step in graph.operators if tensor.index in (*step.inputs, *step.outputs)]
    return () if any(_may_write(step, tensor.index) for step in users) else tuple(users)


def _may_write(step: Operator, index: int) -> bool:
    state = any(step.inputs[slot : slot + 1] == (index,) for slot in STATE_SLOTS.get(step.type, ()))
    return state or index in step.outputs or step.is_custom or bool(step.subgraphs())
