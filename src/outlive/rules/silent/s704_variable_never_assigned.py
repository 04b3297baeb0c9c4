"""Variable read before assignment

What it checks
    An ASSIGN_VARIABLE exists for every variable that a READ_VARIABLE reads: before it in the same
    graph, or in another graph, such as that of CALL_ONCE or of an initializing signature.

Why it matters
    XNNPACK silently returns uninitialized memory: results are wrong, and differ from run to run. The
    builtin kernels refuse the model (LiteRT, tflite/kernels/read_variable.cc).

What to do
    Convert the model again with its initialization: save it with a signature that assigns the
    variables, or with initial values.

Limits
    Variables whose handle goes to another operator, such as a custom operator or a loop, are exempt. An
    assignment in another graph counts as done before.
"""

from collections.abc import Mapping

from outlive.model import Model, Operator, Subgraph
from outlive.rules.api import Evidence, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import operator_name, operator_place

_AGAIN = Remedy("convert the model again with a graph that initializes its variables", Tag.CHANGES_MODEL)
_SHOWN = 5


@rule("S704", "variable-never-assigned", Severity.ERROR, since="0.1", cause="uninitialised-input")
def variable_never_assigned(model: Model) -> Sightings:
    found = [(graph, step, name) for graph in model.subgraphs for step, name in _unassigned(model, graph)]
    if not found:
        return
    graph, step, _ = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    yield Sighting(
        where=operator_name(step, graph.index) + more,
        evidence=tuple(Evidence(_fact(*item), "file") for item in found[:_SHOWN]),
        why="XNNPACK returns uninitialized memory; the builtin kernels refuse the read",
        remedies=(_AGAIN,),
        op=operator_place(step, graph.index),
    )


def _fact(graph: Subgraph, step: Operator, name: str) -> str:
    handles = _handles(graph)
    later = any(name in _touched(other, handles) for other in graph.operators)
    when = "the assignment comes later" if later else "no operator assigns it"
    return f'{operator_name(step, graph.index)} reads variable "{name}", and {when}'


def _unassigned(model: Model, graph: Subgraph) -> Iterator[tuple[Operator, str]]:
    """Reads of a graph that nothing in another graph, and no operator before, assigns."""
    handles = _handles(graph)
    if not handles:
        return
    called = any(graph.index in step.subgraphs() for step in model.operators())
    others = [other for other in model.subgraphs if called or other.index != graph.index]
    assigned: set[str] = set().union(*map(_assigned, others))
    for step in graph.operators:
        name = handles.get(step.inputs[0]) if step.type == "READ_VARIABLE" and step.inputs else None
        if name is not None and name not in assigned:
            yield step, name
        assigned |= _touched(step, handles)


def _assigned(graph: Subgraph) -> set[str]:
    handles = _handles(graph)
    return {name for step in graph.operators for name in _touched(step, handles)}


def _touched(step: Operator, handles: Mapping[int, str]) -> set[str]:
    """The variables that an operator assigns, or may assign: whatever does more than read has its handle."""
    return set() if step.type == "READ_VARIABLE" else {handles[at] for at in step.inputs if at in handles}


def _handles(graph: Subgraph) -> dict[int, str]:
    """The names of variables by the tensors that stand for them."""
    found = {}
    for step in graph.operators:
        if step.type == "VAR_HANDLE" and step.options is not None and step.outputs:
            names = step.options.get("container"), step.options.get("shared_name")
            found[step.outputs[0]] = "/".join(str(name) for name in names if name)
    return found
