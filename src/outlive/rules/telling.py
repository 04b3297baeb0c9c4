"""Words that rules share: naming files, tensors and operators, and telling flaws as evidence."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Sighting, shell_path
from outlive.model import Model, Operator, Reading, Tensor
from outlive.model.flaw import FlawKind
from outlive.units import plural

# A finding names a few examples; whoever wants all of them asks for the JSON of `outlive read`.
_SHOWN = 5
# In a file that ends early, lists that could not be read leave references to nothing: one cause, one finding.
_FOLLOWS_FROM_A_CUT = ("dangling-index", "missing")


def file_name(path: str | None) -> str:
    """What to call the file in a message."""
    return path if path is not None else "the given bytes"


def command(program: str, path: str | None, *options: str) -> str:
    """A shell command about a file, to be pasted as it is; empty for a model that was given as bytes."""
    return "" if path is None else " ".join((program, shell_path(path), *map(shlex.quote, options)))


def tensor_name(tensor: Tensor) -> str:
    """A tensor as `tensor 12 "conv1/weights"`."""
    return f'tensor {tensor.index} "{tensor.name}"'


def operator_name(operator: Operator, subgraph: int = 0) -> str:
    """An operator as `op 41 CONV_2D`, with its subgraph where that is not the main one."""
    place = f"subgraph {subgraph}, " if subgraph else ""
    return f"{place}op {operator.index} {operator.name}"


def contents(model: Model) -> str:
    """What a model holds, in a few words."""
    tensors = sum(len(subgraph.tensors) for subgraph in model.subgraphs)
    operators = sum(len(subgraph.operators) for subgraph in model.subgraphs)
    parts = (
        plural(len(model.subgraphs), "subgraph"),
        plural(tensors, "tensor"),
        plural(operators, "operator"),
    )
    return ", ".join(parts)


def sight_flaws(
    file: Reading, kind: FlawKind, why: str, remedies: tuple[Remedy, ...] = ()
) -> Iterator[Sighting]:
    """One sighting for all flaws of a kind: the first few in full, how many more, and what could be read."""
    flaws = [flaw for flaw in file.flaws if flaw.kind == kind]
    cut_short = any(flaw.kind == "past-end" for flaw in file.flaws)
    if not flaws or (cut_short and kind in _FOLLOWS_FROM_A_CUT):
        return
    evidence = [Evidence(fact=flaw.detail, source=flaw.place or "file") for flaw in flaws[:_SHOWN]]
    if len(flaws) > _SHOWN:
        evidence.append(Evidence(fact=f"{len(flaws) - _SHOWN} more of the same kind", source="file"))
    if file.model is None:
        rest = "nothing else in the file can be trusted, so nothing was read"
    else:
        rest = (
            f"the rest could be read: {contents(file.model)}"
            if file.model.subgraphs
            else "there is nothing else in it"
        )
    evidence.append(Evidence(fact=rest, source="reader"))
    place = flaws[0].place
    yield Sighting(
        where=f"{file_name(file.path)}, {place}" if place else file_name(file.path),
        evidence=tuple(evidence),
        why=why,
        remedies=remedies,
        fault=Fault.FILE,
    )
