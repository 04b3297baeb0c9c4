"""Values to lay over the graph in Model Explorer: the bytes alive at each operator, or who takes it.

{graph: {"results": {node: {"value", "bgColor"}}, "gradient": [...]}}

Model Explorer names the graph of a subgraph after it, and a node of a TensorFlow Lite file by the operator's
index, so that operators without named outputs have a value too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from outlive.accelerators import Coverage
from outlive.arena.plan import Plan
from outlive.model import Model
from outlive.quant import Drift
from outlive.records import Json
from outlive.rendering.media.csv import taken_by
from outlive.rendering.media.json import dump

# From white to red.
_GRADIENT = [{"stop": 0, "bgColor": "#ffffff"}, {"stop": 1, "bgColor": "#c8443c"}]
# By how many accelerators take an operator: none, one, more.
_TAKEN = ("#f4b6ae", "#bfe3c0", "#8fcf95")
# LiteRT's own kernels take everything they can run; they are what others are held against.
_PLAIN = ("reference", "builtin")


def render(result: Any) -> str:
    """The values for the graph of the result's model, by the result's kind."""
    graph = graph_name(result.source)
    drawn = plan_overlay(result, graph) if result.kind == "plan" else coverage_overlay(result, graph)
    return dump(drawn) + "\n"


def graph_name(model: Model | None) -> str:
    """What Model Explorer calls a file's first graph: the subgraph's name, its signature's, or main."""
    if model is None or not model.subgraphs:
        return "main"
    keys = [signature.key for signature in model.signatures if signature.subgraph_index == 0]
    return model.subgraphs[0].name or next(filter(None, keys), "main")


def plan_overlay(plan: Plan, graph: str) -> Json:
    """Bytes alive in the arena while each operator runs, from white to red."""
    results: Json = {str(load.index): {"value": load.live_bytes} for load in plan.ops}
    return {graph: {"name": "bytes alive", "results": results, "gradient": _GRADIENT}}


def drift_overlay(drift: Drift, graph: str = "main") -> Json:
    """Values for the nodes of Model Explorer, by the indices of operators: steps of error born in each.

    Of an operator with several outputs the worst counts.
    """
    steps: dict[int, float] = {}
    for row in drift.tensors:
        if row.op is not None and row.born_here is not None and math.isfinite(row.blame):
            steps[row.op] = max(steps.get(row.op, 0.0), round(row.blame, 4))
    results = {str(op): {"value": value} for op, value in sorted(steps.items())}
    return {
        graph: {
            "name": "error added here, in steps",
            "results": results,
            "gradient": _GRADIENT,
        }
    }


def coverage_overlay(coverage: Coverage, graph: str) -> Json:
    """The accelerators that take each operator, in words, with a colour by how many they are."""
    tried = [one for one in coverage.accelerators if one.available and one.name not in _PLAIN]
    taken = [(one.name, taken_by(one, len(coverage.op_types))) for one in tried]
    known = [(name, ops) for name, ops in taken if ops is not None]
    results: Json = {}
    for op in range(len(coverage.op_types)):
        names = [name for name, ops in known if op in ops]
        results[str(op)] = {"value": _said(names, known), "bgColor": _TAKEN[min(len(names), 2)]}
    return {graph: {"name": "accelerators", "results": results}}


def _said(names: Sequence[str], known: Sequence[object]) -> str:
    if names:
        return " + ".join(names)
    return "CPU only" if known else "not known"
