"""The document `plan` has the names of the contract, whatever the plan."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from outlive.arena.budget import Budget, Way, device_budget, weigh
from outlive.arena.devices import find_device, known_devices
from outlive.arena.plan import Plan, PlannedSetting
from outlive.planning.verdicts import judge_plan
from outlive.records import part_of
from outlive.rendering.media.json import document_of, dump
from outlive.rendering.pages.plan import plan_section, plan_tiles, plan_verdict
from outlive.verbs.devices import Devices
from tests.arena.sketches import micro, refused, sketch

# As DESIGN has them; others rely on each.
CONTRACT = {
    "schema", "kind", "model", "accelerator", "inputs", "arena_bytes", "persistent_bytes",
    "packed_weights_bytes", "workspace_bytes", "mapped_bytes", "runtime_bytes", "peak_bytes", "total_bytes",
    "min_arena_bytes", "placements", "ops", "exact", "bound", "unknown", "measured",
}  # fmt: skip


def written(plan: Plan, **more: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(dump(document_of(replace(plan, **more))))
    return document


@pytest.mark.parametrize("plan", [sketch(), micro(), refused()], ids=["builtin", "tflm", "refused"])
def test_every_name_of_the_contract_is_there(plan: Plan) -> None:
    document = written(plan)
    assert set(document) >= CONTRACT
    assert (document["schema"], document["kind"]) == ("outlive/1", "plan")
    assert set(document["model"]) == {"path", "sha256", "file_bytes"}


def test_placements_and_operators_have_their_fields() -> None:
    document = written(sketch())
    fields = {"tensor", "name", "offset_bytes", "size_bytes", "first_op", "last_op", "persistent"}
    assert set(document["placements"][0]) >= fields
    assert set(document["ops"][0]) == {"index", "type", "name", "live_bytes"}
    highest = max(
        row["offset_bytes"] + row["size_bytes"] for row in document["placements"] if not row["persistent"]
    )
    assert document["arena_bytes"] == highest


def test_a_refused_model_has_null_sizes_and_its_findings() -> None:
    plan = refused()
    document = written(plan, findings=judge_plan(plan))
    assert all(document[name] is None for name in CONTRACT if name.endswith("_bytes"))
    assert [item["code"] for item in document["findings"]] == ["O301"]


def test_the_verdict_is_there_with_its_ways() -> None:
    way = Way(what="run at 32x32", options=("--input", "a=1"), needed_bytes=5, changes_results=True)
    document = written(micro(), verdict=weigh(micro(), device_budget(find_device("rp2040")), (way,)))
    assert document["verdict"]["word"] == "fits"
    assert document["verdict"]["budget"]["device"] == "raspberry-pi-pico"
    assert document["verdict"]["ways"][0]["options"] == ["--input", "a=1"]


def test_rows_and_devices() -> None:
    row = part_of(PlannedSetting(setting={"batch": "2"}, plan=None, problem="no"))
    assert (row["setting"], row["peak_bytes"], row["problem"]) == ({"batch": "2"}, None, "no")
    assert part_of(PlannedSetting(setting={}, plan=sketch()))["arena_bytes"] == sketch().arena_bytes
    listed = json.loads(dump(document_of(Devices(devices=known_devices()))))
    assert {"name", "ram_bytes", "flash_bytes", "document"} <= set(listed["devices"][0])


def test_the_bound_is_said_in_documents_and_on_pages() -> None:
    plan = sketch(exact=False, bound="lower", unknown=("op 1 RANGE",))
    assert (written(plan)["bound"], part_of(PlannedSetting(setting={}, plan=plan))["bound"]) == (
        "lower",
        "lower",
    )
    budget = Budget(kind="ram", title="the RAM granted", ram_bytes=1 << 30, source="--ram")
    verdict = weigh(plan, budget)
    page = plan_verdict(plan, verdict)
    assert (page.tone, page.word) == ("warn", "may not fit")
    assert "needs at least 28.2 MiB" in page.sentence
    tiles = list(plan_tiles(plan, verdict))
    assert tiles[0].value == "at least 28.2 MiB"
    assert "of unknown size" in tiles[0].note
    assert "a lower bound" in plan_section(plan, verdict).lead
