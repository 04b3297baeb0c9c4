"""Operator reads a tensor without data

What it checks
    Every tensor that an operator reads is a constant, a variable, an input of its graph, or the output
    of an operator.

Why it matters
    The tensor has no memory: the kernel reads from address 0 and crashes the process.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    Operators that read only the shape are exempt. The order of operators is not checked.
"""

from itertools import islice

from outlive.model import Model
from outlive.rules.api import Severity, Sighting, Sightings, rule
from outlive.rules.operator.graph_demands import Unfilled, unfilled, works_in_place
from outlive.rules.operator.prepared import MOST_SIGHTINGS, sight
from outlive.rules.wording import tensor_name


@rule("O103", "tensor-never-filled", Severity.ERROR, since="0.1", cause="required-tensor-missing")
def tensor_never_filled(model: Model) -> Sightings:
    found = (item for item in unfilled(model) if not _has_other_rule(item))
    yield from (_sight(model, item) for item in islice(found, MOST_SIGHTINGS))


def _has_other_rule(item: Unfilled) -> bool:
    """Where an input of the graph leads astray, or an operator has lost its output, that is what is wrong."""
    return bool(item.strays) or (item.overwriter is not None and not works_in_place(item.overwriter))


def _sight(model: Model, item: Unfilled) -> Sighting:
    facts = [f"{tensor_name(item.tensor)}; {item.reader.name} reads it, and no operator writes it"]
    op = item.overwriter or item.stray_writer or item.reader
    if item.overwriter is not None:
        facts.append(f"{item.overwriter.name} overwrites its own input instead")
    if item.stray_writer is not None:
        facts.append(f"{item.stray_writer.name} writes to a constant instead")
    why = "a tool changed the index of a tensor, or removed the operator that writes it"
    return sight(model, op, facts, why, cause="tensor-aliased" if item.overwriter is not None else "")
