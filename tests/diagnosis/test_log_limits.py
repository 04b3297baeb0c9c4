"""Empty, binary, huge and endless input: bounded time and memory, and a clear word."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.diagnosis import log_text
from outlive.diagnosis.autopsy import read_remains
from outlive.records import document_of
from outlive.rendering import page_of
from outlive.rendering.media.html import render_html
from outlive.rendering.media.json import dump
from outlive.rendering.media.notebook import card_html
from outlive.rendering.media.text import draw_text
from tests.rendering.stage import plain

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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_death_in_the_middle_of_a_large_log_is_found(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    bare = encoding.replace("16", "16-le") if encoding == "utf-16" else encoding
    line = "all is well, and will be for long\n".encode(bare)
    with path.open("wb") as file:
        file.write("\ufeff".encode(bare) if encoding in ("utf-16", "utf-16-be") else b"")
        for number in range(30):
            file.write(line * 30_000)
            file.write(DEATH.decode().encode(bare) if number == 10 else b"")
    told = outlive.autopsy(path)
    assert told.signal == "SIGSEGV"
    assert "middle" in told.not_read


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
    thread.join(timeout=300)
    assert "did not end" in told.not_read


MEASURED = """
import json, re, sys
import outlive
told = outlive.autopsy(sys.stdin.buffer if sys.argv[1] == "-" else sys.argv[1])
# Not ru_maxrss: the memory of the process that started this one counts there.
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
print(json.dumps([told.code, told.not_read, peak]))
"""
HALF_A_GIGABYTE, MOST_BYTES = 500_000_000, 300_000_000


def measured(source: str, stdin: Any = None) -> tuple[str, str, int]:
    """Code, what was not read, and the most memory that the process had."""
    command = [sys.executable, "-c", MEASURED, source]
    done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=True, timeout=300)
    code, not_read, peak = json.loads(done.stdout)
    return code, not_read, peak


def test_half_a_gigabyte_is_read_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.write(b"all is well, and will be for long\n" * 10_000)
        file.seek(HALF_A_GIGABYTE // 2)  # a hole: nothing is written for it, and all of it is read
        file.write(b"\n" + DEATH)
        file.truncate(HALF_A_GIGABYTE)
    code, not_read, peak = measured(str(path))
    assert code == "D504"
    assert "500 MB" in not_read
    assert peak < MOST_BYTES


def test_no_byte_of_a_large_log_is_read_twice() -> None:
    size = 60 << 20
    counted = CountedReads(size)
    data, unread = log_text.read_bounded(counted, size)
    assert len(data) < 20 << 20
    assert counted.count <= size
    assert "60" in unread or "63" in unread


class CountedReads(io.RawIOBase):
    """A file of this size that counts what is read of it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size, self.at, self.count = size, 0, 0

    def seek(self, place: int, whence: int = 0) -> int:
        self.at = place
        return place

    def read(self, size: int = -1) -> bytes:
        given = max(0, min(size if size >= 0 else self.size, self.size - self.at))
        self.at, self.count = self.at + given, self.count + given
        return (b"an Error: of no weight, and more of the like\n" * (given // 40 + 1))[:given]


def test_what_is_left_out_of_a_log_full_of_failures_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    size = 40 << 20
    _, unread = log_text.read_bounded(CountedReads(size), size)
    assert "were not read" in unread


@pytest.mark.skipif(shutil.which("yes") is None, reason="needs the program yes, which never stops writing")
def test_an_endless_pipe_ends_in_bounded_memory() -> None:
    with subprocess.Popen(["yes", "a frame took 12 ms"], stdout=subprocess.PIPE) as endless:
        code, not_read, peak = measured("-", endless.stdout)
        endless.kill()
    assert code == ""
    assert "did not end" in not_read
    assert "were not read" in not_read
    assert peak < MOST_BYTES


EVIL = "\x1b[31mred\x1b]0;title\x07\u202eeno\u2066x\x9b31m<script>alert(1)</script>"
UNSAFE = "\x1b\x07\u202e\u2066\x9b"


@pytest.mark.parametrize(
    "log",
    [
        f'Traceback (most recent call last):\n  File "/srv/{EVIL}.py", line 3, in x\nRuntimeError: {EVIL}\n',
        f"RuntimeError: x\nNode number 3 ({EVIL}) failed to prepare.\n",
        f"Fatal signal 11 (SIGSEGV) in tid 7 ({EVIL})\n #00 pc 01  /{EVIL}.so ({EVIL}+4)\n #01 pc 01  b\n",
        f"Out of memory: Killed process 42 ({EVIL}) total-vm:9kB, anon-rss:8kB\n",
        f"RuntimeError: Encountered unresolved custom op: {EVIL}.\n",
        f"Cannot copy to a TensorFlowLite tensor ({EVIL}) with 4 bytes from a Java Buffer with 16 bytes\n",
        f"Got value of type FLOAT64 but expected type FLOAT32 for input 0, name: {EVIL}\n",
        f"ImportError: /lib/{EVIL}.so: version `GLIBC_2.35' not found (required by {EVIL})\n",
        f"Could not open '{EVIL}.tflite'.\n",
    ],
)
def test_names_in_a_log_are_escaped_in_every_medium(log: str) -> None:
    told = outlive.autopsy(log)
    page = page_of(told)
    drawn = {
        "text": plain(draw_text(page, 2)),
        "json": dump(document_of(told)),
        "html": render_html(page, document_of(told)),
        "card": card_html(page),
        "repr": repr(told),
        "finding": str(told.finding),
    }
    for medium, text in drawn.items():
        assert [hex(ord(char)) for char in UNSAFE if char in text] == [], medium
    assert "<script>alert" not in drawn["html"] + drawn["card"]
