"""Index out of range in the input

What it checks
    Integers that the model uses unchanged as indices of GATHER or EMBEDDING_LOOKUP are at least 0 and
    below the length of the table.

Why it matters
    The run fails, or uses the wrong row. Typical causes: the vocabulary of another model, a token that
    was added later, -1 for "unknown".

What to do
    Use the vocabulary of the model, and map unknown words to its index for them.

Limits
    The rule follows indices through casts and reshapes only, in the main subgraph, and uses the table
    length in the file.
"""

from outlive.model import Operator, Subgraph
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed, GivenInput, uses
from outlive.rules.wording import operator_name, operator_place


@rule("I308", "index-out-of-range", Severity.ERROR, since="0.1", cause="data-dependent-index")
def index_out_of_range(inputs: Feed) -> Sightings:
    graph = inputs.model.subgraphs[0]
    for given in inputs.given:
        least, most = given.seen.minimum, given.seen.maximum
        if least is None or most is None or not given.seen.all_integers:
            continue
        for step, place in uses(inputs, given):
            length = _table_length(graph, step, place)
            if length is not None and not 0 <= least <= most < length:
                yield _sight(given, step, length, least if least < 0 else most)
                break


def _table_length(graph: Subgraph, step: Operator, place: int) -> int | None:
    """How many rows there are to point at; None if the input is no index, or the length is not fixed."""
    # Operands as tflite/kernels/gather.cc and embedding_lookup.cc have them.
    tables = {("GATHER", 1): 0, ("EMBEDDING_LOOKUP", 0): 1}
    operand = tables.get((step.type, place))
    if operand is None or len(step.inputs) <= operand or not 0 <= step.inputs[operand] < len(graph.tensors):
        return None
    table = graph.tensors[step.inputs[operand]]
    axis = step.options.get("axis", 0) if step.type == "GATHER" and step.options is not None else 0
    if not isinstance(axis, int) or not table.is_constant or not -len(table.shape) <= axis < len(table.shape):
        return None
    return table.shape[axis]


def _sight(given: GivenInput, step: Operator, length: int, index: float) -> Sighting:
    rows = f"{operator_name(step)} has rows 0 to {length - 1:,}"
    return Sighting(
        where=given.place,
        value=f"{int(index):,}, expected 0 to {length - 1:,}",
        evidence=(Evidence(rows, "model"), given.evidence),
        why="the table does not have this row",
        remedies=(
            Remedy(
                "use the vocabulary of this model, and its index for unknown words",
                Tag.CHANGES_RESULTS,
                command=f"np.argwhere((value < 0) | (value >= {length}))[:10]",
            ),
        ),
        fault=Fault.INPUT,
        op=operator_place(step),
    )
