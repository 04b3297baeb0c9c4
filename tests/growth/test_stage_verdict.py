"""From rounds to a verdict: which quantity leads, what all say together, and when it would end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from outlive.growth.growth import LEAKS, NO_LEAK, UNCLEAR, CycleGrowth, Growth, Round
from outlive.growth.stage_verdict import Room, describe_forecast, forecast_limits, weigh

MIB = 1 << 20
Level = Callable[[int], int | None]


def rounds(count: int = 200, **levels: Level) -> list[Round]:
    """Rounds in which everything stays as it is, but for some quantities."""
    usual: dict[str, Level] = {
        "held_bytes": lambda at: 50 * MIB,
        "heap_bytes": lambda at: 9 * MIB,
        "mapped_bytes": lambda at: 200 * MIB,
        "objects": lambda at: 100,
        "descriptors": lambda at: 12,
        "threads": lambda at: 2,
    }
    chosen = {**usual, **levels}
    return [
        Round(calls=at, seconds=at / 10, call_seconds=at / 20, **{name: chosen[name](at) for name in chosen})
        for at in range(count + 1)
    ]


def grown(start: int, size: int) -> Level:
    return lambda at: start + at * size


def test_nothing_grows() -> None:
    stage = weigh(rounds())
    assert stage.verdict == NO_LEAK
    assert str(stage) == "no leak above 31 B per round, after 200 rounds"


def test_memory_in_ram_leads_where_all_grow_alike() -> None:
    stage = weigh(rounds(held_bytes=grown(0, 100_000), heap_bytes=grown(0, 100_016)))
    assert (stage.verdict, stage.leading) == (LEAKS, "held_bytes")
    assert stage.low <= 100_000 <= stage.high


def test_what_was_never_touched_leads_where_it_is_more() -> None:
    stage = weigh(rounds(held_bytes=grown(0, 4096), heap_bytes=grown(0, 100_016)))
    assert stage.leading == "heap_bytes"
    stage = weigh(rounds(held_bytes=grown(0, 300), mapped_bytes=grown(0, MIB)))
    assert stage.leading == "mapped_bytes"
    assert stage.bytes_per_iteration == MIB


def test_descriptors_alone_are_a_leak() -> None:
    stage = weigh(rounds(descriptors=grown(12, 1)))
    assert stage.verdict == LEAKS
    assert str(stage) == "leaks 1 descriptor per round, after 200 rounds"


def test_a_descriptor_now_and_then_is_a_leak_too() -> None:
    stage = weigh(rounds(descriptors=lambda at: 12 + at // 5))
    assert stage.grows("descriptors")


def test_objects_alone_are_no_leak() -> None:
    assert weigh(rounds(objects=grown(0, 3))).verdict == NO_LEAK


def test_one_quantity_that_is_not_clear_is_enough_for_doubt() -> None:
    stage = weigh(rounds(30, heap_bytes=lambda at: at * at % 7 * MIB))
    assert stage.verdict == UNCLEAR
    assert stage.reason.startswith("native heap: ")


def test_what_the_system_does_not_tell_is_left_out() -> None:
    unknown: dict[str, Any] = dict.fromkeys(("heap_bytes", "mapped_bytes"), lambda at: None)
    assert weigh(rounds(**unknown)).verdict == NO_LEAK
    nothing: dict[str, Any] = dict.fromkeys(rounds()[0].__slots__[3:], lambda at: None)
    assert weigh(rounds(**nothing)).verdict == UNCLEAR


def test_when_it_would_end() -> None:
    stage = weigh(rounds(held_bytes=grown(0, MIB), descriptors=grown(12, 1)))
    room = Room(memory_bytes=1000 * MIB, limited_by="cgroup", descriptors=1012, threads=500)
    first, second = forecast_limits(stage, room)
    assert (first.what, first.rounds) == ("held_bytes", 800)
    assert (second.what, second.rounds) == ("descriptors", 800)
    assert first.seconds == 40
    assert describe_forecast(first) == ("0.98 GiB (cgroup) reached after 800 more rounds, about 40 seconds")


def test_a_limit_that_is_passed_already_is_reached_now() -> None:
    stage = weigh(rounds(held_bytes=grown(0, MIB)))
    assert forecast_limits(stage, Room(memory_bytes=10))[0].rounds == 0


def test_the_worst_stage_speaks_for_all() -> None:
    quiet, small = weigh(rounds(), "invoke"), weigh(rounds(held_bytes=grown(0, 9000)), "resize")
    large = weigh(rounds(held_bytes=grown(0, MIB)), "load")
    growth = Growth(what="m.tflite", stages=(quiet, small, large))
    assert (growth.verdict, growth.worst.cycle, growth.leaks) == (LEAKS, "load", True)
    assert growth.low <= growth.bytes_per_iteration <= growth.high
    assert Growth(what="m", stages=(quiet,)).verdict == NO_LEAK


def test_a_stage_that_was_not_measured_does_not_hide_the_others() -> None:
    refused = CycleGrowth(cycle="resize", verdict=UNCLEAR, problem="no other input size is accepted")
    growth = Growth(what="m.tflite", stages=(weigh(rounds(), "load"), refused))
    assert growth.verdict == NO_LEAK
    assert "no other input size is accepted" in str(growth)
    assert replace(growth, stages=(refused,)).verdict == UNCLEAR


def test_a_row_of_a_worker_becomes_a_round() -> None:
    row = {
        "calls": 3,
        "at": 12.5,
        "call_seconds": 0.25,
        "private_bytes": 100,
        "shared_bytes": 20,
        "threads": 4,
    }
    found = Round.from_row(row, 10.0)
    assert (found.held_bytes, found.seconds, found.heap_bytes, found.threads) == (120, 2.5, None, 4)
