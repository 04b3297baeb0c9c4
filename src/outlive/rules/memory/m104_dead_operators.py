"""the model runs operators whose results nobody uses

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
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name, operator_name
from outlive.units import format_bytes, plural

# Operators that do something even if nobody reads their outputs.
_ACTING = {
    "ASSIGN_VARIABLE", "CALL", "CALL_ONCE", "CUSTOM", "DELEGATE", "HASHTABLE", "HASHTABLE_IMPORT", "IF",
    "MULTINOMIAL", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "STABLEHLO_COMPOSITE", "STABLEHLO_CUSTOM_CALL",
    "STABLEHLO_WHILE", "VAR_HANDLE", "WHILE",
}  # fmt: skip


@rule("M104", "dead-operators", Severity.NOTE, since="0.1")
def dead_operators(model: Model) -> Sightings:
    named: dict[int, set[int]] = {}
    for signature in model.signatures:
        named.setdefault(signature.subgraph_index, set()).update(index for _, index in signature.outputs)
    dead = [
        (subgraph, op)
        for subgraph in model.subgraphs
        for op in _dead(subgraph, named.get(subgraph.index, set()))
    ]
    if not dead:
        return
    total = sum(_output_bytes(subgraph, op) for subgraph, op in dead)
    facts = [
        f"{operator_name(op, subgraph.index)} computes {format_bytes(_output_bytes(subgraph, op))}"
        for subgraph, op in dead[:5]
    ]
    yield Sighting(
        where=file_name(model.path),
        evidence=tuple(Evidence(fact, "graph") for fact in facts),
        why=f"nothing depends on {len(dead)} of the {plural(sum(1 for _ in model.operators()), 'operator')}",
        remedies=(
            Remedy(
                "convert without the unused branch",
                Tag.SAME_RESULTS,
                effect=f"saves run time and up to {format_bytes(total)} of outputs",
            ),
        ),
    )


def _dead(subgraph: Subgraph, named: set[int]) -> list[Operator]:
    """Operators that nothing needs, walking from the last to the first."""
    needed = {*subgraph.output_indices, *named}
    dead = []
    for operator in reversed(subgraph.operators):
        if _acts(operator, subgraph) or needed.intersection(operator.outputs):
            needed.update(operator.inputs)
        else:
            dead.append(operator)
    return dead[::-1]


def _acts(operator: Operator, subgraph: Subgraph) -> bool:
    if operator.type in _ACTING or not operator.outputs or operator.type.startswith("unknown"):
        return True
    if subgraph.control_dependencies or any(operator.mutating_inputs):
        return True
    count = len(subgraph.tensors)
    return any(subgraph.tensors[index].is_variable for index in operator.inputs if 0 <= index < count)


def _output_bytes(subgraph: Subgraph, operator: Operator) -> int:
    count = len(subgraph.tensors)
    return sum(subgraph.tensors[index].size_bytes or 0 for index in operator.outputs if 0 <= index < count)
