"""the model runs operators whose results nothing uses

What it checks
    Operators none of whose outputs reaches an output of the subgraph, directly or through others.

Why it matters
    The runtime does not look ahead: it computes them all, keeps memory for their outputs and, with
    XNNPACK, a second copy of their weights.

What to do
    Remove the branch before converting, or convert from the outputs that are needed.

Limits
    Operators that may act beyond their outputs are never called dead: custom operators, control flow,
    variables, hash tables, random numbers, and whatever these read.
"""

from outlive.model import Model, Operator, Subgraph
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.wording import operator_name, sight_file
from outlive.surgery import dead_in
from outlive.units import format_bytes, plural


@rule("M104", "dead-operators", Severity.NOTE, since="0.1")
def dead_operators(model: Model) -> Sightings:
    dead = [
        (subgraph, subgraph.operators[index])
        for subgraph in model.subgraphs
        if not subgraph.control_dependencies  # what they order may act
        for index in sorted(dead_in(subgraph, model.signature_tensors(subgraph.index), {}))
    ]
    if not dead:
        return
    total = sum(_output_bytes(subgraph, op) for subgraph, op in dead)
    facts = [
        f"{operator_name(op, subgraph.index)} computes {format_bytes(_output_bytes(subgraph, op))}"
        for subgraph, op in dead[:5]
    ]
    why = f"nothing depends on {len(dead)} of the {plural(sum(1 for _ in model.operators()), 'operator')}"
    effect = f"saves run time and up to {format_bytes(total)} of outputs"
    without = Remedy("convert without the unused branch", Tag.SAME_RESULTS, effect=effect)
    yield sight_file(model.path, facts, "graph", why, without)


def _output_bytes(subgraph: Subgraph, operator: Operator) -> int:
    count = len(subgraph.tensors)
    return sum(subgraph.tensors[index].size_bytes or 0 for index in operator.outputs if 0 <= index < count)
