"""An input that no operator reads need not be set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outlive.model import read_source
from tests.rules.s706.bad import landed
from tests.rules.small import graph, operator, save, tensor, tree


def facts(tmp_path: Path) -> dict[str, Any]:
    ends = [tensor("x", [1, 8]), tensor("unused", [1, 8]), tensor("none", [1]), tensor("y", [1, 8])]
    made = save(tmp_path, tree(graph(ends, [operator("RELU", [0], [3])], [0, 1], [3])))
    return {"flight": landed(unset_inputs=((1, "unused"),)), "model": read_source(made).model}
