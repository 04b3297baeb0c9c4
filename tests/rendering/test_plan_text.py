"""A plan in words: everything a user needs is said, nothing of a stranger's file gets through raw."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import outlive
from outlive.arena.budget import Budget, said_of, weigh
from outlive.arena.measured import set_beside
from outlive.arena.plan import OpLoad, Plan, PlannedSetting
from outlive.planning.verdicts import judge_plan
from outlive.rendering import page_of
from outlive.rendering.media.text import draw_text
from tests.arena.sketches import KIB, MIB, OPS, PARTS, PLACES, micro, refused, sketch
from tests.rendering.stage import HOSTILE, plain, unsafe


def told(plan: Plan, ram: int | None = None, detail: int = 1) -> str:
    budget = Budget(kind="ram", title="the RAM granted", ram_bytes=ram or 1, source="--ram")
    verdict = weigh(plan, budget) if ram is not None else None
    whole = replace(plan, verdict=verdict, findings=judge_plan(plan, verdict))
    return plain(draw_text(page_of(whole), detail))


def test_sizes_are_told_to_the_byte_where_they_are_exact() -> None:
    text = told(sketch())
    for said in (
        "m.tflite  needs at most 28.2 MiB",
        "LiteRT's builtin kernels, an upper bound; image 1x1024x1024x1 float32",
        "arena        28.0 MiB",
        "structures    100 KiB",
        "lower bound  24.0 MiB",
        "operator 1, ADD: 25,165,824 bytes",
        "largest tensors: wide (16.0 MiB)",
        "its input is read again later",
    ):
        assert said in text


def test_an_estimate_does_not_look_exact() -> None:
    text = told(sketch(exact=False, bound="estimate", parts=()))
    assert "needs about 28.2 MiB" in text
    assert "an estimate" in text
    assert "29,528,064" not in text
    assert "mapped file" in text


def test_the_verdict_stands_first() -> None:
    lines = told(sketch(), 16 * MIB).splitlines()
    assert lines[0].startswith("error[M201]: Does not fit: needs 28.2 MiB, ")
    assert "✗ m.tflite  does not fit" in lines
    assert told(sketch(), 64 * MIB).splitlines()[0] == "✓ m.tflite  fits"
    assert told(sketch(), 30 * MIB).splitlines()[0] == "! m.tflite  tight"
    assert told(sketch(), 29 * MIB).splitlines()[0] == "! m.tflite  may not fit"


def test_a_lower_bound_says_at_least_wherever_it_stands() -> None:
    text = told(sketch(exact=False, bound="lower", unknown=("op 1 RANGE",)), 64 * MIB)
    assert text.splitlines()[0] == "! m.tflite  may not fit"
    assert "needs at least 28.2 MiB" in text
    assert "a lower bound" in text
    assert "warning[M206]" in text
    assert "at most" not in text


def test_micro_has_its_own_totals() -> None:
    text = told(micro())
    assert "needs 83,968 bytes" in text
    rows = [line.split()[:4] for line in text.splitlines()]
    assert ["arena", "used", "80.0", "KiB"] in rows
    assert ["smallest", "arena", "82.0", "KiB"] in rows


def test_a_refusal_has_a_reason_and_no_numbers() -> None:
    text = told(refused())
    assert "refused" in text
    assert "error[O301]" in text
    assert "Private memory:" not in text


def test_many_operators_share_rows() -> None:
    ops = tuple(OpLoad(index=i, type="ADD", name="", live_bytes=i) for i in range(1000))
    text = told(sketch(ops=ops))
    assert "the most of 42 in a row" in text
    assert text.count("op 41 ADD") == 1


def test_measured_stands_beside_planned() -> None:
    plan = sketch()
    sizes: dict[str, int | None] = {"load_bytes": 700 * KIB, "allocate_bytes": 800 * KIB}
    whole = set_beside(plan, {**sizes, "invoke_bytes": 29 * MIB, "peak_bytes": 29 * MIB})
    text = told(replace(plan, measured=whole))
    assert "invoke    28.2 MiB  29.0 MiB  +860 KiB" in text
    assert "within what plans may be off by" in text
    died = told(replace(plan, measured=set_beside(plan, sizes, "it died in stage invoke")))
    assert "not reached" in died
    assert "it died in stage invoke" in died


@pytest.mark.parametrize(
    ("measured", "said"),
    [(80 * MIB, "more than planned"), (2 * MIB, "less than planned"), (None, "nothing was measured")],
)
def test_a_difference_is_explained(measured: int | None, said: str) -> None:
    seen = set_beside(sketch(exact=False, unknown=("a scratch",)), {"peak_bytes": measured})
    assert said in seen["explanation"][0]
    assert measured is None or "not known: a scratch" in seen["explanation"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_names_are_shown_safely(kind: str) -> None:
    name = HOSTILE[kind]
    changes: dict[str, Any] = {
        "path": name,
        "inputs": ((name, (1,), "float32"),),
        "placements": tuple(replace(place, name=name) for place in PLACES),
        "ops": tuple(replace(load, type=name, name=name) for load in OPS),
        "parts": tuple(replace(part, name=name, source=name) for part in PARTS),
        "unshared": ((1, name, 5, name),),
        "unknown": (name,),
        "assumed": (name,),
    }
    text = told(sketch(**changes), 16 * MIB)
    assert not unsafe(text)
    assert len(text) < 50_000
    rows = (PlannedSetting(setting={name: name}, plan=None, problem=name),)
    assert not unsafe(told(sketch(sweep=rows)))


def test_rows_of_a_sweep() -> None:
    budget = Budget(kind="ram", title="the RAM granted", ram_bytes=16 * MIB, source="--ram")
    rows = (
        PlannedSetting(setting={"batch": "1"}, plan=sketch(), verdict=weigh(sketch(), budget)),
        PlannedSetting(setting={"batch": "2"}, plan=None, problem="the runtime says no"),
    )
    lines = told(sketch(sweep=rows), detail=0).splitlines()
    head = next(number for number, line in enumerate(lines) if "Settings side by side" in line)
    assert lines[head + 1].split()[:3] == ["batch", "arena", "persistent"]
    assert "does not fit" in lines[head + 2]
    assert "the runtime says no" in lines[head + 3]


def test_devices_are_listed_with_their_documents() -> None:
    text = plain(draw_text(page_of(outlive.devices()), 1))
    assert "Microcontrollers" in text
    assert "RP2040 Datasheet" in text


def test_a_small_peak_is_about_so_much() -> None:
    # It may be off by 200 kB: "at most 25 KiB" was said of a model that took 64.
    assert said_of("upper", 25_000) == "about"
    assert (said_of("upper", 50_000_000), said_of("lower", 25_000)) == ("at most", "at least")
