"""What was taken from a lane is known, so that no call is made twice."""

from __future__ import annotations

import mmap
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.process.child.guard.lane import BLOCK_BYTES, WAKE, Lane
from outlive.process.child.guard.message_frames import WAKE_UP


def lanes() -> tuple[Lane, Lane]:
    block = mmap.mmap(-1, BLOCK_BYTES)
    return Lane(block, 0, True), Lane(block, 0, True)


def test_a_message_in_the_slot_is_taken_though_its_wake_up_was_never_read() -> None:
    sender, receiver = lanes()
    assert sender.post(b"call") == WAKE
    sender.note_woken(len(WAKE_UP))
    assert not sender.was_taken
    assert receiver.take() == b"call"
    assert sender.was_taken


def test_a_message_through_the_socket_is_taken_once_all_of_it_was_heard() -> None:
    sender, receiver = lanes()
    sender.post(b"call")
    sender.note_woken(len(WAKE_UP))
    receiver.take()
    sender.note_sent(100)
    receiver.note_heard(len(WAKE_UP) + 99)
    assert not sender.was_taken
    receiver.note_heard(1)
    assert sender.was_taken


class Rousing:
    """The words of a lane whose other side says without end that something comes."""

    def __init__(self, words: Any) -> None:
        self._words = words
        self.heeded = 0

    def __getitem__(self, place: int) -> int:
        return 1 if place == 3 else int(self._words[place])  # lane: _COMING

    def __setitem__(self, place: int, value: int) -> None:
        self._words[place] = value
        self.heeded += place == 3
        assert self.heeded < 100, "it would wait for ever"


def test_one_who_is_told_without_end_that_something_comes_waits_longer_once() -> None:
    _, receiver = lanes()
    words = Rousing(receiver.words)
    receiver.words = words  # type: ignore[assignment]
    assert receiver.watch(spin_ns=10_000_000) == b""
    assert words.heeded <= 1


def test_a_call_that_ends_its_worker_at_once_is_made_once(tmp_path: Path) -> None:
    """The worker sleeps when the call comes, takes it from the slot, and dies before it reads the socket."""
    counted = tmp_path / "calls"

    def fall() -> None:
        with counted.open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)

    rest = outlive.guard(lambda: None)
    for number in range(1, 9):
        rest()
        time.sleep(0.02)  # longer than it waits awake
        with pytest.raises(outlive.ModelDied):
            outlive.guard(fall)()
        assert counted.read_text() == "x" * number
