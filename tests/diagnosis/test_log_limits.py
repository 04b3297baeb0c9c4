"""Empty, binary, huge and endless input: bounded time and memory, and a clear word."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import outlive
from outlive.diagnosis import log_text
from outlive.diagnosis.autopsy import read_remains

DEATH = b"python3: line 7:  42 Segmentation fault      (core dumped) python3 a.py\n"


def test_an_empty_log_and_a_binary_one_say_so() -> None:
    assert "empty" in read_remains(b"", None).meaning
    assert "binary" in read_remains(bytes(range(32)) * 400, None).meaning


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_encodings_of_windows_are_read(encoding: str) -> None:
    told = read_remains("exit code -1073741819 (0xC0000005)\r\n".encode(encoding), None)
    assert told.signal == "SIGSEGV"


def test_a_death_at_the_start_of_a_large_log_is_found(tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    with path.open("wb") as file:
        file.write(DEATH)
        for _ in range(30):
            file.write(b"all is well, and will be for long\n" * 30_000)
    told = outlive.autopsy(path)
    assert told.signal == "SIGSEGV"
    assert "middle" in told.not_read


def test_a_death_in_the_middle_of_a_large_log_is_found(tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    with path.open("wb") as file:
        for number in range(30):
            file.write(b"all is well, and will be for long\n" * 30_000)
            file.write(DEATH if number == 10 else b"")
    assert outlive.autopsy(path).signal == "SIGSEGV"


def test_a_pipe_that_never_ends_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_text, "_IDLE_S", 0.2)
    reader, writer = os.pipe()
    os.write(writer, DEATH)
    with os.fdopen(reader, "rb") as stream:
        told = outlive.autopsy(stream)
    os.close(writer)
    assert told.signal == "SIGSEGV"
    assert "did not end" in told.not_read


def test_a_pipe_that_gives_too_much_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_text, "_MOST_STREAM_BYTES", 1 << 20)
    reader, writer = os.pipe()

    def pour() -> None:
        with os.fdopen(writer, "wb") as sink:
            try:
                while True:
                    sink.write(b"a line\n" * 1000)
            except BrokenPipeError:
                return

    thread = threading.Thread(target=pour)
    thread.start()
    with os.fdopen(reader, "rb") as stream:
        told = outlive.autopsy(stream)
    thread.join(timeout=20)
    assert "did not end" in told.not_read


def test_names_in_a_log_are_escaped_where_they_are_shown() -> None:
    log = 'Traceback (most recent call last):\n  File "\x07evil\u202e.py", line 3, in x\nKeyError: 1\n'
    assert "\u202e" not in outlive.autopsy(log).where
