"""Operators without effect

What it checks
    No RESHAPE or SQUEEZE keeps its shape, no TRANSPOSE its order, no CAST its type, no CONCATENATION
    has one input, no PAD adds nothing.

Why it matters
    Most of them copy the whole tensor in each run, and the second tensor raises the peak.

What to do
    Remove them in the source of the model, or use a newer converter, which folds most of them.

Limits
    Tensors with dynamic dimensions, or an empty shape in the file, are exempt: they may differ in a
    run.
"""

from outlive.model import Model, Operator, Subgraph, Tensor
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.wording import operator_name, sight_file
from outlive.surgery import constant_integers
from outlive.units import format_bytes, format_shape, plural

_SAME_SHAPE = {"RESHAPE", "SQUEEZE", "EXPAND_DIMS"}


@rule("M105", "identity-operators", Severity.NOTE, since="0.1")
def identity_operators(model: Model) -> Sightings:
    found = [
        (operator_name(op, subgraph.index), source)
        for subgraph in model.subgraphs
        for op in subgraph.operators
        if (source := _copied(op, subgraph)) is not None
    ]
    if not found:
        return
    total = sum(source.size_bytes or 0 for _, source in found)
    facts = [
        f"{name} copies {format_shape(source.shape)} {source.dtype}, {format_bytes(source.size_bytes or 0)}"
        for name, source in found[:5]
    ]
    why = f"{plural(len(found), 'operator')} {'copies' if len(found) == 1 else 'copy'} unchanged data"
    action = "remove the operators from the model's source, and convert it again"
    effect = f"saves up to {format_bytes(total)} of copies per run"
    without = Remedy(action, Tag.SAME_RESULTS, effect=effect)
    yield sight_file(model.path, facts, "shapes and options", why, without)


def _copied(operator: Operator, subgraph: Subgraph) -> Tensor | None:
    """The tensor this operator copies unchanged, or None."""
    count = len(subgraph.tensors)
    ends = (*operator.inputs[:1], *operator.outputs)
    if len(ends) != 2 or not all(0 <= index < count for index in ends):
        return None
    source, result = subgraph.tensors[ends[0]], subgraph.tensors[ends[1]]
    if source.is_constant or source.is_dynamic or result.is_dynamic:
        return None
    # An empty shape may stand for an unknown one.
    if not source.shape or source.shape != result.shape or source.dtype != result.dtype:
        return None
    return source if _changes_nothing(operator, subgraph, len(source.shape)) else None


def _changes_nothing(operator: Operator, subgraph: Subgraph, rank: int) -> bool:
    if operator.type in _SAME_SHAPE or operator.type == "CAST":
        return True
    if operator.type == "CONCATENATION":
        return len(operator.inputs) == 1
    if operator.type == "TRANSPOSE":
        return constant_integers(operator, subgraph) == list(range(rank))
    if operator.type == "PAD":
        return constant_integers(operator, subgraph) == [0] * (2 * rank)
    return False
