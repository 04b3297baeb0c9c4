"""A sampler sees what a process does, survives its death, and never keeps more than it should."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from outlive.meter import Sample, Sampler
from outlive.meter.timeline import MOST_POINTS
from tests.meter.processes import MIB, linux_only, servant
from tests.meter.trees import write

PATIENCE_S = 300


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for what must come; the time it takes is not what we test."""
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)


@linux_only
def test_a_timeline_shows_the_baseline_the_rise_and_the_marks() -> None:
    with servant() as process, Sampler(process.pid) as sampler:
        sampler.mark("load")
        process.do(f"block = b'x' * {50 * MIB}")
        sampler.mark("invoke")
        process.do("del block")
        sampler.mark("free")
        timeline = sampler.stop()
    assert timeline.baseline_bytes > MIB
    assert [point.mark for point in timeline.marks] == ["load", "invoke", "free"]
    load, invoke, free = timeline.marks
    assert abs(load.bytes) < 2 * MIB
    assert abs(invoke.bytes - 50 * MIB) < 2 * MIB
    assert abs(free.bytes) < 2 * MIB
    assert abs(timeline.peak_bytes - 50 * MIB) < 3 * MIB
    assert timeline.peak_rss_bytes > timeline.peak_bytes
    seconds = [point.seconds for point in timeline.points]
    assert seconds == sorted(seconds)
    assert timeline.points[0].bytes == 0


@linux_only
def test_the_thread_sees_a_rise_that_no_mark_tells_of() -> None:
    with servant() as process, Sampler(process.pid, interval_s=0.001) as sampler:
        process.do(f"block = b'x' * {50 * MIB}")
        wait_until(lambda: sampler.latest is not None and sampler.latest.bytes > 48 * MIB)
        process.do("del block")
        wait_until(lambda: sampler.latest is not None and sampler.latest.bytes < 2 * MIB)
        timeline = sampler.stop()
    assert not timeline.marks
    assert abs(timeline.peak_bytes - 50 * MIB) < 3 * MIB


@linux_only
def test_a_death_ends_the_watch_quietly() -> None:
    with servant() as process:
        sampler = Sampler(process.pid).start()
        assert sampler.mark("invoke") is not None
        process.tell("os.kill(os.getpid(), 9)")
        wait_until(lambda: sampler.gone)
        assert sampler.mark("get") is None
        assert sampler.rebase() > 0
        timeline = sampler.stop()
    assert [point.mark for point in timeline.marks] == ["invoke"]
    assert sampler.stop() == timeline


@linux_only
def test_a_process_gone_from_the_start_gives_an_empty_timeline() -> None:
    with servant() as process:
        process.end()
        with Sampler(process.pid) as sampler:
            assert sampler.gone
            assert sampler.latest is None
        assert sampler.stop().points == ()


@linux_only
def test_rebase_moves_the_baseline() -> None:
    with servant() as process, Sampler(process.pid) as sampler:
        process.do(f"block = b'x' * {20 * MIB}")
        sampler.rebase()
        point = sampler.mark("load")
        assert point is not None
        assert abs(point.bytes) < MIB
        assert sampler.stop().points[0].bytes < -18 * MIB


@linux_only
def test_no_thread_and_no_descriptor_is_left_behind() -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    with servant() as process:
        before, threads = open_files(), threading.active_count()
        for _ in range(20):
            with Sampler(process.pid):
                pass
        assert (open_files(), threading.active_count()) == (before, threads)
        sampler = Sampler(process.pid).start()
        process.end()
        wait_until(lambda: sampler.gone)
        wait_until(lambda: threading.active_count() == threads)
        assert open_files() <= before


def test_without_threads_there_are_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Sampler(os.getpid()) as sampler:
        sampler.mark("load")
    assert [point.mark for point in sampler.stop().marks] == ["load"]


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sampler]:
    """A sampler of a made-up process whose memory grows by one byte a reading; its thread is not started."""
    root = write(tmp_path, {"self/stat": "", "7/statm": "5000 300 100 1 0 200 0\n"})
    sampler = Sampler(7, proc=root)
    readings = iter(range(10**9))

    def read() -> Sample:
        return Sample(private_bytes=next(readings), rss_bytes=1, shared_bytes=0)

    monkeypatch.setattr(sampler._probe, "read_cheap", read)
    monkeypatch.setattr(sampler._probe, "read", read)
    yield sampler
    sampler.stop()


def test_hours_of_sampling_take_bounded_memory(counted: Sampler) -> None:
    most = 0
    for number in range(10 * MOST_POINTS):
        counted._note(mark="load" if number == 7 else None)
        most = max(most, len(counted._points))
    timeline = counted.stop()
    assert most <= 2 * MOST_POINTS
    assert len(timeline.points) <= MOST_POINTS
    assert [point.mark for point in timeline.marks] == ["load"]


def test_many_marks_of_one_name_take_bounded_memory(counted: Sampler) -> None:
    for _ in range(10 * MOST_POINTS):
        counted.mark("invoke", exact=False)
    assert len(counted._points) <= 2 * MOST_POINTS
    assert len(counted.stop().points) <= MOST_POINTS


def test_cheap_readings_are_corrected_by_the_last_exact_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path, {"self/stat": "", "7/statm": "5000 300 100 1 0 200 0\n"})
    sampler = Sampler(7, proc=root)
    exact = Sample(private_bytes=1000 * MIB, rss_bytes=1, shared_bytes=0)
    monkeypatch.setattr(sampler._probe, "read", lambda: exact)
    assert sampler.rebase() == 1000 * MIB
    point = sampler.mark("invoke", exact=False)
    assert point is not None
    assert point.bytes == 0


def test_a_process_in_motion_does_not_spoil_the_correction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path, {"self/stat": "", "7/statm": "5000 300 100 1 0 200 0\n"})
    sampler = Sampler(7, proc=root)
    sizes = iter([100 * MIB, 900 * MIB, 900 * MIB, 1000 * MIB])

    def read() -> Sample:
        return Sample(private_bytes=next(sizes), rss_bytes=1, shared_bytes=0)

    monkeypatch.setattr(sampler._probe, "read_cheap", read)
    monkeypatch.setattr(sampler._probe, "read", read)
    baseline = sampler.stop().baseline_bytes
    assert sampler._correction_bytes == 0
    assert baseline == 200 * os.sysconf("SC_PAGE_SIZE")
