"""Wrong tensor at a graph boundary

What it checks
    No input of a graph is a constant, the output of an operator, or unused while an operator reads a
    tensor without data. An operator writes every output of the graph.

Why it matters
    The caller's data goes to the wrong tensor, and the operator that needs it reads from address 0.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    Inputs that are only unused are allowed.
"""

from itertools import islice

from outlive.model import Model
from outlive.rules.api import Evidence, Iterator, Severity, Sighting, Sightings, rule
from outlive.rules.operator.graph_demands import unfilled
from outlive.rules.operator.prepared import CONVERT_AGAIN, MOST_SIGHTINGS, operators_of, sight
from outlive.rules.wording import file_name, tensor_name


@rule("O115", "graph-io-index", Severity.ERROR, since="0.1", cause="graph-io-index")
def graph_io_index(model: Model) -> Sightings:
    why = "a tool changed an index among the inputs or outputs of the graph"
    for item in islice((item for item in unfilled(model) if item.strays), MOST_SIGHTINGS):
        facts = [f"{tensor_name(item.tensor)} is read but never written"]
        facts += [
            f"{tensor_name(tensor)} is an input, but no operator expects data there" for tensor in item.strays
        ]
        yield sight(model, item.reader, facts, why)
    for name in islice(_unwritten(model), 1):
        evidence = Evidence(f"{name} is an output that no operator writes", "file")
        place = file_name(model.path)
        yield Sighting(
            value=evidence.fact, where=place, evidence=(evidence,), why=why, remedies=(CONVERT_AGAIN,)
        )


def _unwritten(model: Model) -> Iterator[str]:
    # Other rules report an operator that has lost its output.
    if any(op.signature is not None and not op.is_whole for op in operators_of(model)):
        return
    for subgraph in model.subgraphs[:1]:
        filled = {tensor for operator in subgraph.operators for tensor in operator.outputs}
        filled |= set(subgraph.input_indices)
        for tensor in subgraph.outputs:
            if tensor.index not in filled and not (tensor.is_constant or tensor.is_variable):
                yield tensor_name(tensor)
