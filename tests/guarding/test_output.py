"""What a guarded function prints, warns and logs appears where its caller looks, in order, at once."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import logging
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.guarding import connection as wires
from outlive.guarding import worker_output as outputs
from outlive.verbs.guard import guarded
from tests.deaths.restrictions import linux_only

pytestmark = linux_only


class Heard(io.StringIO):
    """A stream that makes a file as soon as something comes."""

    def __init__(self, sign: Path) -> None:
        super().__init__()
        self._sign = sign

    def write(self, text: str) -> int:
        self._sign.touch()
        return super().write(text)


def test_python_and_native_prints_in_their_order() -> None:
    def speak() -> None:
        libc = ctypes.CDLL(None)
        for number in range(5):
            print("python", number)
            libc.printf(b"native %d\n", number)
            os.write(1, b"raw %d\n" % number)
        sys.stdout.write("end")

    with contextlib.redirect_stdout(io.StringIO()) as heard:
        outlive.guard(speak)()
    lines = [f"{who} {number}\n" for number in range(5) for who in ("python", "native", "raw")]
    assert heard.getvalue() == "".join(lines) + "end"


def test_what_a_quick_call_prints_is_there_when_it_returns() -> None:
    speak = outlive.guard(print)
    for number in range(300):
        with contextlib.redirect_stdout(io.StringIO()) as heard:
            speak(number)
        assert heard.getvalue() == f"{number}\n"


def test_much_output_is_neither_lost_nor_in_the_way() -> None:
    def shout() -> int:
        for _ in range(200):
            print("x" * 9_999)
            print("y" * 9_999, file=sys.stderr)
        return 1

    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        assert outlive.guard(shout)() == 1
    assert (len(out.getvalue()), len(err.getvalue())) == (2_000_000, 2_000_000)


def test_output_comes_while_the_function_runs(tmp_path: Path) -> None:
    def slow(sign: str) -> None:
        sys.stdout.write("begun\r")  # at once; print writes the end of a line apart
        while not os.path.exists(sign):
            time.sleep(0.01)
        print("done")

    heard = Heard(tmp_path / "heard")
    with contextlib.redirect_stdout(heard):
        outlive.guard(slow, seconds=300)(str(tmp_path / "heard"))
    assert heard.getvalue() == "begun\rdone\n"


def test_a_progress_bar_is_drawn_step_by_step() -> None:
    tqdm = pytest.importorskip("tqdm", reason="draws the progress bar of this test: pip install tqdm")

    def work() -> None:
        for _ in tqdm.tqdm(range(3), mininterval=0):
            time.sleep(0.01)

    with contextlib.redirect_stderr(io.StringIO()) as heard:
        outlive.guard(work)()
    assert heard.getvalue().count("\r") >= 3
    assert "3/3" in heard.getvalue()


def test_letters_that_come_in_two_pieces() -> None:
    def split() -> None:
        for byte in "é€😀".encode():
            os.write(1, bytes((byte,)))
            time.sleep(0.03)

    with contextlib.redirect_stdout(io.StringIO()) as heard:
        outlive.guard(split)()
    assert heard.getvalue() == "é€😀"


def test_warnings_are_shown_as_the_caller_wants_them() -> None:
    def warn() -> None:
        warnings.warn("careful", UserWarning, stacklevel=1)

    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()) as heard:
        warnings.simplefilter("always")
        outlive.guard(warn)()
        assert "UserWarning: careful" in heard.getvalue()
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="careful"):
            outlive.guard(warn)()
        warnings.simplefilter("ignore")
        outlive.guard(warn)()
    assert heard.getvalue().count("careful") < 3


def test_log_records_reach_the_callers_handlers(caplog: pytest.LogCaptureFixture) -> None:
    def log() -> None:
        logging.getLogger("some.place").info("found %d", 3)
        logging.getLogger("some.place").debug("not asked for")
        try:
            raise ValueError("inside")
        except ValueError:
            logging.exception("went wrong")

    with caplog.at_level(logging.INFO):
        outlive.guard(log)()
    said = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert said == [("some.place", "INFO", "found 3"), ("root", "ERROR", "went wrong")]
    assert "ValueError: inside" in caplog.text


def test_a_level_that_is_set_later_holds_in_the_worker(caplog: pytest.LogCaptureFixture) -> None:
    def log() -> bool:
        logging.getLogger("set.later").debug("detail")
        return logging.getLogger("set.later").isEnabledFor(logging.DEBUG)

    logger = logging.getLogger("set.later")
    guarded = outlive.guard(log)
    try:
        assert not guarded()
        logger.setLevel(logging.DEBUG)
        assert guarded()
        assert [record.getMessage() for record in caplog.records] == ["detail"]
        logger.setLevel(logging.NOTSET)
        assert not guarded()
        logging.getLogger("set").setLevel(logging.DEBUG)
        assert guarded()
    finally:
        logging.getLogger("set").setLevel(logging.NOTSET)
        logger.setLevel(logging.NOTSET)
    assert not guarded()


def test_a_record_has_the_time_at_which_it_was_made(caplog: pytest.LogCaptureFixture) -> None:
    def log() -> tuple[float, float]:
        before = time.time()
        logging.warning("now")
        after = time.time()
        time.sleep(0.2)
        return before, after

    before, after = outlive.guard(log)()
    (record,) = caplog.records
    assert before <= record.created <= after
    assert abs(record.created % 1 * 1000 - record.msecs) < 1.001
    here = logging.makeLogRecord({})
    began = here.created - here.relativeCreated / 1000
    assert abs(record.created - began - record.relativeCreated / 1000) < 0.01


def test_a_stream_that_cannot_say_a_letter_shows_it_otherwise() -> None:
    def speak() -> None:
        print("before")
        print("caf\u00e9 \u2713")
        print("after")

    for encoding, shown in (("ascii", "caf\\xe9 \\u2713"), ("latin-1", "caf\u00e9 \\u2713")):
        file = io.BytesIO()
        with contextlib.redirect_stdout(io.TextIOWrapper(file, encoding=encoding)) as heard:
            outlive.guard(speak)()
            heard.flush()
        assert file.getvalue().decode(encoding) == f"before\n{shown}\nafter\n"


def test_output_of_threads_and_of_children() -> None:
    def speak() -> None:
        import subprocess
        import threading

        thread = threading.Thread(target=print, args=("thread",))
        thread.start()
        thread.join()
        subprocess.run([sys.executable, "-c", "print('child')"], check=True)

    with contextlib.redirect_stdout(io.StringIO()) as heard:
        outlive.guard(speak)()
    assert heard.getvalue() == "thread\nchild\n"


def test_a_caller_without_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(sys, "stderr", stream)
        assert outlive.guard(lambda: (print("x"), print("y", file=sys.stderr), 3)[2])() == 3


def test_a_stream_that_breaks_ends_the_call_with_its_own_error() -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(32, "nobody reads")

    def speak() -> Any:
        for _ in range(1000):
            print("x")
            time.sleep(0.01)

    with contextlib.redirect_stdout(Broken()), pytest.raises(BrokenPipeError):
        outlive.guard(speak)()
    assert outlive.guard(abs)(-2) == 2


def test_a_quiet_call_shows_nothing_and_its_last_words_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    def talk(dies: bool) -> None:
        print("to be seen?")
        print("last words", file=sys.stderr, flush=True)
        if dies:
            os.abort()

    guarded(talk, quiet=True)(False)
    with pytest.raises(outlive.ModelDied) as caught:
        guarded(talk, quiet=True)(True)
    assert capfd.readouterr() == ("", "")
    assert "last words" in caught.value.flight.stderr_tail
    outlive.guard(talk)(False)
    assert capfd.readouterr() == ("to be seen?\n", "last words\n")


@pytest.mark.parametrize("times", [1, 1000], ids=["once", "for good"])
def test_output_that_cannot_be_read_breaks_no_print(
    times: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = iter(range(times))
    read = outputs.operating_system.read

    def fail(descriptor: int, size: int) -> bytes:
        if next(failures, None) is not None:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        return read(descriptor, size)

    function = outlive.guard(print, seconds=300)
    monkeypatch.setattr(outputs.operating_system, "read", fail)
    if times == 1:
        function("said")
        assert capsys.readouterr().out == "said\n"
    else:
        with pytest.raises(outlive.RunError):
            [function("lost") for _ in range(3)]
    monkeypatch.undo()
    function("again")
    assert capsys.readouterr().out.endswith("again\n")


def test_a_call_comes_back_where_the_system_has_no_memory_to_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(_: object, timeout_ms: float) -> list[tuple[int, int]]:
        time.sleep(min(timeout_ms, 20.0) / 1000)
        return outputs.operating_system.BLIND

    def speak() -> str:
        time.sleep(0.2)
        return "said"

    monkeypatch.setattr(wires, "is_worth_it", lambda: False)  # as on one core: answers come by the socket
    function = outlive.guard(speak, seconds=300, fresh=True)
    assert function() == "said"
    monkeypatch.setattr(outputs.operating_system, "wait", wait)
    assert function() == "said"
