"""`outlive.leak` on functions, in real workers: what leaks is found and named, the rest is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import outlive
from outlive.growth.growth import LEAKS, NO_LEAK
from tests.deaths.moments import Clock

SCRIPT = Path(__file__).with_name("leakers.py")
PAGES = 102_400  # 100,000 bytes in whole pages


def leak(name: str, **options: object) -> outlive.Growth:
    return outlive.leak(f"{SCRIPT}::{name}", **options)  # type: ignore[arg-type]


def codes(growth: outlive.Growth) -> list[str]:
    return [finding.code for finding in growth.findings]


@pytest.mark.parametrize(
    ("name", "size", "code"),
    [
        ("native_100_kb", 100_000, "G601"),
        ("native_untouched", 100_000, "G601"),
        ("python_10_kb", 10_000, "G602"),
        ("mapped_100_kb", PAGES, "G605"),
    ],
)
def test_a_leak_is_found_within_its_interval_and_named(name: str, size: int, code: str) -> None:
    growth = leak(name, repeat=90)
    assert growth.verdict == LEAKS
    assert growth.low <= size <= growth.high
    assert codes(growth) == [code]


def test_a_large_leak_is_stopped_before_it_does_harm() -> None:
    growth = leak("python_10_mb", memory="500MB")
    assert growth.verdict == LEAKS
    assert growth.low <= 10_000_000 <= growth.high
    assert growth.worst.calls < 40, "a quarter of what is allowed is enough"
    assert "numpy.ndarray" in growth.findings[0].evidence[1].fact
    assert "global variable kept of leakers" in growth.findings[0].evidence[2].fact


def test_descriptors_are_counted_and_named() -> None:
    growth = leak("descriptor", repeat=60)
    assert codes(growth) == ["G603"]
    assert any("/dev/null" in item.fact for item in growth.findings[0].evidence)


def test_threads_are_counted_and_named() -> None:
    growth = leak("thread", repeat=60)
    assert codes(growth) == ["G604"]
    assert any('"pump"' in item.fact for item in growth.findings[0].evidence)


@pytest.mark.parametrize("name", ["nothing", "cache_100", "sawtooth", "slow_start", "noise"])
def test_what_only_looks_like_a_leak_is_none(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    growth = leak(name)
    assert growth.verdict == NO_LEAK
    assert growth.above <= 4096
    assert codes(growth) == []
    assert capfd.readouterr().out == "", "what the rounds print is not shown"


def test_a_leak_is_repeated_until_no_cache_of_usual_size_can_be_meant() -> None:
    growth = leak("native_100_kb")
    assert growth.worst.calls >= 1200


def test_a_function_given_as_it_is_may_be_a_closure() -> None:
    kept: list[bytearray] = []

    def step() -> None:
        kept.append(bytearray(30_000))

    growth = outlive.leak(step, repeat=60)
    assert growth.verdict == LEAKS
    assert "closure" in growth.findings[0].evidence[2].fact
    assert kept == [], "it ran elsewhere"


@pytest.mark.parametrize("name", ["generator", "coroutine"])
def test_generators_and_coroutines_are_run_to_their_end(name: str) -> None:
    assert leak(name, repeat=30).verdict == LEAKS


def test_when_it_would_end_is_said_for_the_memory_given() -> None:
    growth = leak("python_10_kb", repeat=60, ram="100MB")
    (end,) = growth.worst.ends
    assert (end.limit, end.limited_by) == (100_000_000, "as asked for")
    held = growth.worst.rounds[-1].held_bytes or 0
    assert end.rounds == pytest.approx((100_000_000 - held) / 10_000, rel=0.5)


def test_a_device_has_its_own_memory() -> None:
    growth = leak("python_10_kb", repeat=60, device="raspberry-pi-zero-2-w")
    assert growth.worst.ends[0].limit <= 512 << 20


def test_a_death_does_not_take_what_was_measured_with_it() -> None:
    growth = leak("dies")
    assert growth.died
    assert growth.flight.signal == "SIGSEGV"
    assert growth.worst.calls == 39
    assert growth.verdict == LEAKS
    assert codes(growth) == ["D504", "G602"]


def test_a_hang_does_not_either(clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANGS_AT", str(tmp_path / "hangs"))
    clock.advance_when((tmp_path / "hangs").exists)
    growth = leak("hangs", seconds=300.0)
    assert growth.died
    assert growth.flight.ended_by == "deadline"
    assert growth.worst.calls == 29
    assert growth.worst.verdict == NO_LEAK
    assert codes(growth) == ["D503"]


def test_an_exception_in_a_later_round_is_told() -> None:
    growth = leak("raises_later")
    assert codes(growth) == ["G608"]
    assert growth.worst.problem == "round 30 raised OSError: nothing left"


def test_an_exception_in_the_first_round_is_the_callers() -> None:
    with pytest.raises(KeyError, match="first"):
        leak("raises_at_once")


def test_what_cannot_be_repeated_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no function missing; it has .*native_100_kb"):
        leak("missing")
    with pytest.raises(ValueError, match="name the function"):
        outlive.leak(str(SCRIPT))
    with pytest.raises(ValueError, match="file not found"):
        outlive.leak(f"{tmp_path}/none.py::f")
    with pytest.raises(ValueError, match="unknown cycle 'reload'"):
        outlive.leak("m.tflite", "reload")
    with pytest.raises(ValueError, match="0 times"):
        leak("nothing", repeat=0)
    with pytest.raises(ValueError, match="not both"):
        leak("nothing", ram="1GB", device="raspberry-pi-zero-2-w")
