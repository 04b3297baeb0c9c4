"""Overlays for Model Explorer: a value for each operator, in the shape its own builder writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive import demo_models
from outlive.accelerators import Accelerator, Coverage
from outlive.rendering.media.json import dump
from outlive.rendering.media.overlay import coverage_overlay, graph_name, plan_overlay
from outlive.surgery import write
from tests.rules.small import graph, operator, tensor, tree

# Of node_data_builder.py of ai-edge-model-explorer 0.1.34: GraphNodeData, NodeDataResult, GradientItem.
GRAPH_FIELDS = {"results", "name", "thresholds", "gradient"}
RESULT_FIELDS = {"value", "bgColor", "textColor"}


def complaints(document: Any) -> list[str]:
    found = []
    for name, data in document.items():
        if not name or not set(data) <= GRAPH_FIELDS or "results" not in data:
            found.append(f"{name!r}: {sorted(data)}")
        for node, result in data["results"].items():
            if not set(result) <= RESULT_FIELDS or not isinstance(result["value"], (int, float, str)):
                found.append(f"{node}: {result}")
        stops = [item["stop"] for item in data.get("gradient", ())]
        if stops and (stops[0], stops[-1]) != (0, 1):
            found.append(f"stops {stops}")
    return found


def coverage(*accelerators: Accelerator) -> Coverage:
    types = ("CONV_2D", "CUSTOM", "SOFTMAX")
    return Coverage(
        path="m.tflite", sha256="", file_bytes=1, runtime={}, accelerators=accelerators, op_types=types
    )


def accelerator(name: str, taken: tuple[int, ...] | None, available: bool = True) -> Accelerator:
    count = None if taken is None else len(taken)
    return Accelerator(
        name=name, title=name, available=available, taken=taken, ops_taken=count, ops_total=3, runs=True
    )


def test_a_plan_has_bytes_for_each_operator() -> None:
    plan = outlive.plan(demo_models.path("healthy"), "builtin")
    document = json.loads(dump(plan_overlay(plan, "main")))
    assert complaints(document) == []
    results = document["main"]["results"]
    assert {node: result["value"] for node, result in results.items()} == {
        str(load.index): load.live_bytes for load in plan.ops
    }


def test_an_operator_says_who_takes_it() -> None:
    found = coverage(
        accelerator("builtin", (0, 1, 2)),
        accelerator("xnnpack", (0, 2)),
        accelerator("gpu", (0,)),
        accelerator("npu", (), available=False),
    )
    document = json.loads(dump(coverage_overlay(found, "main")))
    assert complaints(document) == []
    results = document["main"]["results"]
    assert [results[str(op)]["value"] for op in range(3)] == ["xnnpack + gpu", "CPU only", "xnnpack"]
    assert len({result["bgColor"] for result in results.values()}) == 3


def test_what_is_not_known_is_not_made_up() -> None:
    one = replace(accelerator("gpu", None), ops_taken=2)
    results = coverage_overlay(coverage(one), "main")["main"]
    assert isinstance(results, dict)
    assert {item["value"] for item in results["results"].values()} == {"not known"}


def test_a_real_probe_can_be_laid_over_the_graph() -> None:
    found = outlive.probe(demo_models.path("healthy"), only=("builtin", "xnnpack"), cache=False)
    document = json.loads(dump(coverage_overlay(found, "main")))
    assert complaints(document) == []
    values = [result["value"] for result in document["main"]["results"].values()]
    assert values.count("xnnpack") == found["xnnpack"].ops_taken
    assert len(values) == found["xnnpack"].ops_total


@pytest.mark.parametrize(
    ("subgraph", "signature", "called"),
    [("add", "s", "add"), ("", "s", "s"), ("", "", "main"), ("", None, "main")],
)
def test_the_graph_is_named_as_model_explorer_names_it(
    subgraph: str, signature: str | None, called: str, tmp_path: Path
) -> None:
    made = tree(
        graph([tensor("x", [1]), tensor("y", [1])], [operator("ABS", [0], [1])], [0], [1])
        | {"name": subgraph}
    )
    if signature is not None:
        entry = {"signature_key": signature, "inputs": [{"name": "x", "tensor_index": 0}]}
        made["signature_defs"] = [entry | {"outputs": [{"name": "y", "tensor_index": 1}]}]
    path = tmp_path / "m.tflite"
    path.write_bytes(write(made))
    assert graph_name(outlive.read(path)) == called
