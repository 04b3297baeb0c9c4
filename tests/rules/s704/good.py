"""A variable that a graph assigns which runs once, before the first read."""

from __future__ import annotations

from pathlib import Path

from tests.rules.s704.bad import ADD, assign, counting, handle, read
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Path:
    once = operator("CALL_ONCE", [], [], "CallOnceOptions", init_subgraph_index=1)
    start = [tensor("start", [1, 4], buffer=1), tensor("handle", [1], "RESOURCE")]
    first = graph(start, [handle(), assign()], [], [])
    return save(tmp_path, tree(counting(once, handle(), read(), ADD, assign(3)), first, buffers=[ones(1, 4)]))
