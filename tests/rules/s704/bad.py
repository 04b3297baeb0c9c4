"""A variable that no operator assigns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.small import graph, operator, save, tensor, tree

Step = dict[str, Any]


def handle(index: int = 1) -> Step:
    """What stands for the variable."""
    return operator("VAR_HANDLE", [], [index], "VarHandleOptions", container="", shared_name="state")


def read() -> Step:
    """Takes the value of the variable."""
    return operator("READ_VARIABLE", [1], [2], "ReadVariableOptions")


def assign(value: int = 0) -> Step:
    """Gives the variable the value of a tensor: the input, unless another is meant."""
    return operator("ASSIGN_VARIABLE", [1, value], [], "AssignVariableOptions")


def counting(*steps: Step) -> Step:
    """A graph that does these steps with a variable, and adds what was read to its input."""
    tensors = [tensor("x", [1, 4]), tensor("handle", [1], "RESOURCE"), tensor("held", [1, 4])]
    add = operator("ADD", [0, 2], [3], "AddOptions")
    steps = tuple(add if step["kind"] == "ADD" else step for step in steps)
    return graph([*tensors, tensor("y", [1, 4])], steps, [0], [3])


ADD: Step = {"kind": "ADD"}


def source(tmp_path: Path) -> Path:
    return save(tmp_path, tree(counting(handle(), read(), ADD)))
