"""Words that rules share: names of files, tensors and operators, and commands to paste."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from outlive.finding import Evidence, OpPlace, Remedy, Sighting, shell_path
from outlive.model import Operator, Subgraph, Tensor
from outlive.names import shorten

_LAYER = 28


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
    """An operator in a sentence: `operator 41 (CONV_2D)`, with its subgraph unless that is the main one."""
    place = f"subgraph {subgraph}, " if subgraph else ""
    return f"{place}operator {operator.index} ({operator.name})"


def operator_location(operator: Operator, subgraph: Subgraph) -> str:
    """Where an operator is: `operator 41, CONV_2D (layer stem/conv)`; its first output names the layer."""
    place = f"subgraph {subgraph.index}, " if subgraph.index else ""
    made = [at for at in operator.outputs[:1] if 0 <= at < len(subgraph.tensors)]
    name = "".join(subgraph.tensors[at].name for at in made)
    layer = (
        f" (layer {shorten(name, _LAYER)})" if name and len(name) + len(operator.name) < 2 * _LAYER else ""
    )
    return f"{place}operator {operator.index}, {operator.name}{layer}"


def sight_file(path: str | None, facts: Iterable[str], source: str, why: str, *remedies: Remedy) -> Sighting:
    """One sighting of a whole file, for facts of one source."""
    seen = tuple(Evidence(fact, source) for fact in facts)
    return Sighting(where=file_name(path), evidence=seen, why=why, remedies=remedies)


def operator_place(operator: Operator, subgraph: int = 0) -> OpPlace:
    """An operator in a finding."""
    return OpPlace(subgraph=subgraph, index=operator.index, type=operator.name)
