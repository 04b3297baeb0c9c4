"""Tables for spreadsheets: right values, one table per file, and names that do nothing."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

import outlive
from outlive import demo_models
from outlive.arena.plan import Plan, PlannedSetting
from outlive.meter import Point
from outlive.process.flight import Flight
from outlive.rendering.media.csv import coverage_csv, plan_csv, run_csv, settings_csv
from tests.rendering.test_overlay import accelerator, coverage


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return outlive.plan(demo_models.path("healthy"), "builtin")


def test_each_tensor_has_its_place(plan: Plan) -> None:
    table = rows(plan_csv(plan))
    assert [(row["name"], int(row["offset_bytes"]), int(row["size_bytes"])) for row in table] == [
        (place.name, place.offset_bytes, place.size_bytes) for place in plan.placements
    ]
    first = next(row for row in table if row["first_op"] == "0")
    assert first["first_op_type"] == plan.ops[0].type
    assert int(first["live_bytes_at_first_op"]) == plan.ops[0].live_bytes


def test_what_is_inside_a_delegate_is_told_apart() -> None:
    table = rows(plan_csv(outlive.plan(demo_models.path("healthy"), "cpu")))
    assert {row["region"] for row in table} == {"arena", "workspace"}


def test_settings_stand_side_by_side(plan: Plan) -> None:
    settings = (
        PlannedSetting(setting={"batch": "1"}, plan=plan),
        PlannedSetting(setting={"batch": "9"}, plan=None, problem="refused"),
    )
    table = rows(settings_csv(settings))
    assert [row["batch"] for row in table] == ["1", "9"]
    assert [row["peak_bytes"] for row in table] == [str(plan.peak_bytes), ""]
    assert table[1]["problem"] == "refused"


def test_memory_over_time() -> None:
    point = Point(seconds=0.5, bytes=1000, rss_bytes=2000, mark="load")
    table = rows(run_csv(Flight(died=False, stage="done", timeline=(point,))))
    assert table == [{"seconds": "0.5", "private_bytes": "1000", "resident_bytes": "2000", "mark": "load"}]


def test_who_takes_which_operator() -> None:
    table = rows(coverage_csv(coverage(accelerator("xnnpack", (0, 2)), accelerator("gpu", None))))
    assert [row["xnnpack"] for row in table] == ["taken", "left", "taken"]
    assert [row["gpu"] for row in table] == ["", "", ""]


@pytest.mark.parametrize(
    "name",
    [
        "=HYPERLINK(1)",
        "+1",
        "-1",
        "@x",
        "a,b",
        'a"b',
        "a\nb",
        "a\x00b",
        "\u202e=1",
        "\uff1d1",
        "\uff20x",
        " =1",
    ],
)
def test_a_name_is_only_a_name(plan: Plan, name: str) -> None:
    bad = replace(plan, placements=tuple(replace(place, name=name) for place in plan.placements))
    table = rows(plan_csv(bad))
    assert len(table) == len(plan.placements)
    shown = {row["name"] for row in table}
    assert len(shown) == 1
    assert not shown.pop().lstrip().startswith(("=", "+", "-", "@", "\uff1d", "\uff20"))
    assert "\x00" not in plan_csv(bad)
