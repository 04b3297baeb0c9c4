"""Ctrl-C while a guarded function runs: it reaches the function, and the caller."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

import outlive
from tests.deaths.moments import when
from tests.deaths.restrictions import linux_only
from tests.guarding.scenes import gone, play

pytestmark = linux_only


def press_ctrl_c_once(path: Path) -> None:
    """As soon as the function has said that it runs."""

    def press() -> None:
        while not path.exists():
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


def test_its_finally_runs_and_the_worker_stays(tmp_path: Path) -> None:
    running, tidied = tmp_path / "running", tmp_path / "tidied"

    def wait(running: str, tidied: str) -> None:
        try:
            open(running, "w").close()
            time.sleep(1000)
        finally:
            open(tidied, "w").close()

    pid = outlive.guard(os.getpid)()
    press_ctrl_c_once(running)
    with pytest.raises(KeyboardInterrupt):
        outlive.guard(wait)(str(running), str(tidied))
    assert tidied.exists()
    assert outlive.guard(os.getpid)() == pid


def test_a_function_that_does_not_obey_is_ended(tmp_path: Path) -> None:
    running = tmp_path / "running"

    def deaf(path: str) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with open(path + ".pid", "w") as file:
            file.write(str(os.getpid()))
        os.rename(path + ".pid", path)
        time.sleep(1000)

    press_ctrl_c_once(running)
    with pytest.raises(KeyboardInterrupt):
        outlive.guard(deaf)(str(running))
    assert gone(int(running.read_text()))
    assert outlive.guard(abs)(-1) == 1


def test_a_function_that_swallows_it_gives_its_worker_back(tmp_path: Path) -> None:
    running = tmp_path / "running"

    def stubborn(path: str) -> str:
        open(path, "w").close()
        try:
            time.sleep(1000)
        except KeyboardInterrupt:
            return "anyway"
        return "?"

    press_ctrl_c_once(running)
    with pytest.raises(KeyboardInterrupt):
        outlive.guard(stubborn)(str(running))
    assert outlive.guard(abs)(-1) == 1


def test_while_an_item_of_a_stream_is_awaited(tmp_path: Path) -> None:
    running = tmp_path / "running"

    def slow(path: str):  # type: ignore[no-untyped-def]
        yield 1
        open(path, "w").close()
        time.sleep(1000)
        yield 2

    stream = outlive.guard(slow)(str(running))
    assert next(stream) == 1
    press_ctrl_c_once(running)
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    assert list(stream) == []
    assert outlive.guard(abs)(-1) == 1


def test_an_alarm_of_the_callers_own_ends_the_call(tmp_path: Path) -> None:
    running = tmp_path / "running"

    class Alarm(Exception):
        pass

    def ring(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    when(running.exists, lambda: os.kill(os.getpid(), signal.SIGALRM))
    try:
        with pytest.raises(Alarm):
            outlive.guard(lambda: (running.touch(), time.sleep(1000)))()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert outlive.guard(abs)(-1) == 1


def test_ctrl_c_in_a_terminal_leaves_no_process_behind(tmp_path: Path) -> None:
    done = play(
        f"""
        import signal, threading
        from pathlib import Path
        running = Path({str(tmp_path / "running")!r})
        def run():
            print(os.getpid(), flush=True)
            time.sleep(0.5)  # so that it has been shown: an interrupt in that moment may cost a line
            running.touch()
            time.sleep(1000)
        def press():
            while not running.exists():
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=press, daemon=True).start()
        try:
            outlive.guard(run)()
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    pid, said = done.stdout.split()
    assert said == "interrupted"
    assert gone(int(pid))
