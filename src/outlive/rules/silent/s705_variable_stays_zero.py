"""a variable tensor is read and nothing writes it

What it checks
    Whether an operator writes each variable tensor that is read; recurrent operators write their states
    themselves.

Why it matters
    The runtime sets variables to zero when it allocates them, and nothing says that they stay so: what was to
    remember earlier runs adds zeros to each of them.

What to do
    Convert the model again, or look in the tool that made it for the operator that should write the state.

Limits
    Variables that a custom operator or another graph is given are left alone: these may write them.
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
            others = (Evidence(f"{more} more are like that", "file"),) if more else ()
            yield Sighting(
                where=tensor_name(tensor),
                evidence=(Evidence(fact, "file"), *others),
                why="the runtime fills it with zeros, and it keeps them",
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
