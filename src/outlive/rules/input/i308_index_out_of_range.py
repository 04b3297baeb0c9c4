"""an index in the given values points outside of the table it is looked up in

What it checks
    Whether integers given to the model that it uses as they are for the indices of GATHER or
    EMBEDDING_LOOKUP are below 0, or not below the length of the table.

Why it matters
    The run ends with an error, or with the wrong row: a vocabulary of another model, a token that was added
    later, -1 for "unknown".

What to do
    Use the vocabulary the model was made with, and map what is not in it to the index for unknown words.

Limits
    Only indices that reach the table unchanged (through casts and reshapes) are followed, in the main
    subgraph, and the length of the table is the one in the file.
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
                yield _sight(given, step, length)
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


def _sight(given: GivenInput, step: Operator, length: int) -> Sighting:
    rows = f"{operator_name(step)} looks up rows 0 to {length - 1:,}"
    return Sighting(
        where=given.place,
        evidence=(Evidence(rows, "model"), given.evidence),
        why="there is no such row",
        remedies=(
            Remedy(
                "use the vocabulary of this model, with its index for what is unknown",
                Tag.CHANGES_RESULTS,
                command=f"np.argwhere((value < 0) | (value >= {length}))[:10]",
            ),
        ),
        fault=Fault.INPUT,
        op=operator_place(step),
    )
