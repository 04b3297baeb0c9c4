"""Unused operators

What it checks
    At least one output of every operator reaches an output of the subgraph, directly or through other
    operators.

Why it matters
    The runtime computes them all, keeps memory for their outputs and, with XNNPACK, a second copy of
    their weights.

What to do
    Remove the branch before conversion, or convert from the outputs that you need.

Limits
    Operators with possible side effects are exempt, with everything that they read: custom operators,
    control flow, variables, hash tables, random numbers.
"""

from outlive.model import Model, Operator, Subgraph
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.wording import command, operator_name, sight_file
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
    why = f"no output depends on {len(dead)} of {plural(sum(1 for _ in model.operators()), 'operator')}"
    effect = f"saves run time and up to {format_bytes(total)} of outputs"
    fix = command("outlive check --fix", model.path)
    remove = Remedy("remove the operators", Tag.SAME_RESULTS, effect=effect, command=fix)
    again = Remedy("convert the model without the unused branch", Tag.SAME_RESULTS)
    yield sight_file(model.path, facts, "graph", why, remove, again)


def _output_bytes(subgraph: Subgraph, operator: Operator) -> int:
    count = len(subgraph.tensors)
    return sum(subgraph.tensors[index].size_bytes or 0 for index in operator.outputs if 0 <= index < count)
