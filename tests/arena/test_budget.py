"""Fits, tight, does not fit: the verdict follows the promise of what a byte is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from outlive.arena.budget import (
    ArenaSize,
    Budget,
    certain_bytes,
    device_budget,
    error_bytes,
    needed_bytes,
    weigh,
    worst_moment,
)
from outlive.arena.devices import Device, find_device
from tests.arena.sketches import KIB, MIB, micro, refused, sketch


def budget(ram: int, **more: Any) -> Budget:
    return Budget(kind="ram", title="the RAM granted", ram_bytes=ram, source="--ram", **more)


def board(**changes: Any) -> Device:
    usual: dict[str, Any] = {
        "name": "board",
        "title": "A board",
        "kind": "microcontroller",
        "runtime": "tflm",
        "ram_bytes": 256 * KIB,
        "flash_bytes": 1024 * KIB,
        "word": 32,
        "document": "its data sheet",
        "abi": "cortex-m",
    }
    return Device(**{**usual, **changes})


def test_private_memory_beyond_the_ram_does_not_fit() -> None:
    plan = sketch()
    assert plan.peak_bytes is not None
    assert weigh(plan, budget(plan.peak_bytes - 1)).word == "does not fit"
    exact = replace(plan, parts=())
    assert weigh(exact, budget(plan.peak_bytes)).word == "tight"


def test_less_room_than_the_plan_may_be_off_by_is_no_fit() -> None:
    plan = sketch()
    error = error_bytes(plan)
    assert plan.peak_bytes is not None
    assert error == int(0.03 * plan.peak_bytes)
    doubtful = weigh(plan, budget(plan.peak_bytes + error - 1))
    assert doubtful.word == "may not fit"
    assert not doubtful.fits
    assert weigh(plan, budget(plan.peak_bytes + error)).word == "tight"
    assert error_bytes(sketch(peak_bytes=1000)) == 200_000


def test_a_lower_bound_never_fits() -> None:
    plan = sketch(exact=False, bound="lower")
    assert plan.peak_bytes is not None
    assert weigh(plan, budget(1000 * plan.peak_bytes)).word == "may not fit"
    assert weigh(plan, budget(plan.peak_bytes - 1)).word == "does not fit"


def test_an_estimate_may_be_off_by_as_much_as_itself() -> None:
    plan = sketch(exact=False, bound="estimate")
    assert plan.peak_bytes is not None
    assert weigh(plan, budget(2 * plan.peak_bytes - 1)).word == "may not fit"
    assert weigh(plan, budget(2 * plan.peak_bytes)).word == "fits"


def test_a_measured_peak_counts_where_it_is_higher() -> None:
    plan = sketch(measured={"peak_bytes": 50 * MIB})
    assert weigh(plan, budget(49 * MIB)).word == "does not fit"
    assert weigh(plan, budget(64 * MIB)).needed_bytes == 50 * MIB


def test_a_margin_under_a_tenth_is_tight() -> None:
    plan = sketch(peak_bytes=90 * MIB, total_bytes=92 * MIB)
    assert weigh(plan, budget(100 * MIB)).word == "fits"
    tight = weigh(plan, budget(99 * MIB))
    assert tight.word == "tight"
    assert tight.margin_bytes == 9 * MIB
    assert "less than 10%" in tight.reasons[0]


def test_a_file_that_does_not_fit_beside_it_is_tight_and_not_worse() -> None:
    plan = sketch(peak_bytes=10 * MIB, total_bytes=90 * MIB)
    verdict = weigh(plan, budget(64 * MIB))
    assert verdict.word == "tight"
    assert "the system reads it again" in verdict.reasons[0]


def test_what_is_free_just_now_never_makes_more_than_tight() -> None:
    here = budget(1000 * MIB, free_bytes=1 * MIB)
    verdict = weigh(sketch(), here)
    assert verdict.word == "tight"
    assert "free now" in verdict.reasons[0]


def test_a_microcontroller_needs_the_smallest_arena_and_flash_for_the_file() -> None:
    plan = micro()
    assert needed_bytes(plan) == 82 * KIB
    fits = weigh(plan, device_budget(board()))
    assert (fits.word, fits.margin_bytes, fits.flash_margin_bytes) == ("fits", 174 * KIB, 824 * KIB)
    small = weigh(plan, device_budget(board(ram_bytes=81 * KIB)))
    assert (small.word, small.margin_bytes) == ("does not fit", -KIB)
    flash = weigh(plan, device_budget(board(flash_bytes=199 * KIB)))
    assert flash.word == "does not fit"
    assert "larger than the flash" in flash.reasons[0]


def test_an_arena_larger_than_any_bank_does_not_fit() -> None:
    verdict = weigh(micro(), device_budget(board(largest_block_bytes=64 * KIB)))
    assert verdict.word == "does not fit"
    assert "one block" in verdict.reasons[0]
    assert "18,432 too few" in verdict.reasons[0]


def test_a_bank_has_to_hold_the_variables_and_the_margin_too() -> None:
    arena = ArenaSize(
        planned_bytes=82 * KIB, variables=2, variable_bytes=80, margin_bytes=5 * KIB, margin_words="5%"
    )
    for block, word in ((82 * KIB, "does not fit"), (arena.bytes - 1, "does not fit"), (arena.bytes, "fits")):
        verdict = weigh(micro(), device_budget(board(largest_block_bytes=block)), arena=arena)
        assert verdict.word == word
        assert verdict.needed_bytes == 82 * KIB + 80
    ram = weigh(micro(), device_budget(board(ram_bytes=82 * KIB)), arena=arena)
    assert (ram.word, ram.margin_bytes) == ("does not fit", -80)
    close = weigh(micro(), device_budget(board(ram_bytes=84 * KIB)), arena=arena)
    assert close.word == "tight"
    assert "a margin of 5,120 bytes does not fit" in close.reasons[-1]


def test_a_refused_model_has_no_verdict_in_bytes() -> None:
    verdict = weigh(refused(), device_budget(board()))
    assert (verdict.word, verdict.needed_bytes, verdict.margin_bytes) == ("refused", None, None)
    assert not verdict.fits


def test_what_a_system_leaves_counts_only_where_a_document_says_so() -> None:
    pi = find_device("raspberry-pi-zero-2-w")
    assert device_budget(pi).ram_bytes == 512 * MIB
    assert device_budget(board(left_by_os_bytes=100 * KIB)).ram_bytes == 100 * KIB


@pytest.mark.parametrize(
    ("changes", "certain"),
    [
        ({}, 28 * MIB + 64 * KIB),
        ({"exact": False}, 24 * MIB),
        ({"exact": False, "lower_bound_bytes": None}, 0),
    ],
)
def test_only_what_is_certain_may_keep_a_run_from_starting(changes: dict[str, Any], certain: int) -> None:
    assert certain_bytes(sketch(**changes)) == certain


def test_the_worst_moment_names_what_is_alive_there() -> None:
    moment = worst_moment(sketch())
    assert moment is not None
    assert moment[0] == 1
    assert [item.name for item in moment[1]] == ["wide", "narrow"]
    assert worst_moment(sketch(ops=())) is None
