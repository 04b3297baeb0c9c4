"""What the NPU's plugin took: how many operators, in how many partitions; which, only if it took all."""

from __future__ import annotations

import re
from dataclasses import replace

from outlive.accelerators.seen import Taken
from outlive.accelerators.trying import Attempt
from outlive.accelerators.ways import Way
from outlive.model import Model

# litert/compiler/plugin/compiler_plugin.cc of LiteRT 2.3.0: a line for each subgraph, those called first.
_PARTITIONED = re.compile(
    r"Partitioned subgraph<0>, selected (?P<taken>\d+) ops, from a total of (?P<all>\d+) ops\. "
    r"resulted in (?P<partitions>\d+) partitions"
)
_NOT_LOADED = re.compile(r"Could not load shared library [^\n]*OpenVINO[^\n]*", re.IGNORECASE)
_FEW = "it took {count} of {total} operators, and does not say which"


def see_npu(model: Model, seen: Attempt, way: Way) -> Taken:
    """How many operators the plugin took of the main subgraph, as far as it says so, and where they run."""
    options = way.compiled.options if way.compiled is not None else {}
    if options.get("intel_openvino_options", {}).get("graph_backend") == "CPU":
        return replace(_count(model, seen), device="OpenVINO's CPU backend", is_software=True)
    return _count(model, seen)


def _count(model: Model, seen: Attempt) -> Taken:
    total = len(model.subgraphs[0].operators)
    if _NOT_LOADED.search(seen.words):
        return Taken(absent="the OpenVINO library that the plugin wants was not found")
    row = _PARTITIONED.search(seen.words)
    if row is None or int(row["all"]) != total:  # composites are taken apart before they are counted
        return Taken(notes=("it does not say which operators it took",) if seen.compiles else ())
    count, partitions = int(row["taken"]), int(row["partitions"])
    if count == total:
        return Taken(count=count, operators=tuple(range(total)), partitions=partitions)
    nothing = () if count == 0 else None
    return Taken(
        count=count,
        operators=nothing,
        partitions=partitions,
        notes=(_FEW.format(count=count, total=total),) if count else (),
    )
