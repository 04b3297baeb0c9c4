"""Records are private, few and small; damaged ones are passed over; nobody is shown another's death."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from outlive.kernel_deaths import record_store as store
from outlive.kernel_deaths.record import Record
from outlive.meter import process_start, read_boot_id
from outlive.process.child.watcher import death_record, notes_file
from outlive.process.child.watcher.observation import StderrTee
from outlive.verbs.judging import JUDGE

ME = {"session": "kernel-1.json", "notebook": "", "folder": "here"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OUTLIVE_BLACKBOX_DIR", str(tmp_path / "box"))
    monkeypatch.delenv("OUTLIVE_BLACKBOX", raising=False)
    return tmp_path / "box"


def put(name: str, **content: Any) -> None:
    row = {"session": "", "notebook": "", "folder": "", "busy": True, "status": 11, **content}
    store.home().mkdir(parents=True, exist_ok=True)
    notes_file.write_private(str(store.home() / f"{name}.json"), row)


def test_there_is_nothing_on_an_empty_shelf() -> None:
    store.tidy()
    assert (
        store.names(),
        store.load("x"),
        store.take_unshown(ME),
        store.clear(),
    ) == ([], None, None, 0)


def test_only_the_newest_are_kept() -> None:
    for number in range(store.MOST_RECORDS + 5):
        put(f"2026-{number:03}")
    store.tidy()
    assert len(store.names()) == store.MOST_RECORDS
    assert store.names()[0] == f"2026-{store.MOST_RECORDS + 4:03}"
    assert store.clear() == store.MOST_RECORDS


@pytest.mark.parametrize(
    ("content", "mine"),
    [
        ({"session": "kernel-1.json"}, True),
        ({"session": "kernel-1.json", "notebook": "a.ipynb"}, True),
        ({"session": "kernel-2.json", "folder": "here"}, True),
        ({"session": "kernel-2.json", "folder": "there"}, False),
        ({"session": "kernel-2.json", "notebook": "a.ipynb", "folder": "here"}, False),
        ({"session": "kernel-1.json", "busy": False, "status": 9}, True),
        ({"session": "kernel-2.json", "folder": "here", "busy": False, "status": 9}, False),
        ({"folder": "here", "busy": False, "status": 9, "oom_kills": [1, 2]}, True),
    ],
)
def test_a_death_is_shown_to_whom_it_concerns(content: dict[str, Any], mine: bool) -> None:
    put("one", **content)
    assert (store.take_unshown(ME) is not None) == mine
    assert store.take_unshown(ME) is None
    assert store.load("one") is not None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"cell": 3, "timeline": [1, {}], "oom_kills": ["a", 2], "status": "x"}',
     '{"timeline": {}, "cell": {"files": [], "number": true, "source": 5}, "ended": "now"}',
     '{"evidence": {"frames": [3, {}], "op_type": 4, "op_index": "x", "model_files": 7, "memory": [],'
     ' "division": [1], "fault_address": "0x0", "op_candidates": {}, "untraced": 5}}',
     '{"evidence": [1]}'],
)  # fmt: skip
def test_a_damaged_record_harms_nobody(text: str) -> None:
    put("bad")
    (store.home() / "bad.json").write_text(text)
    store.tidy()
    record = store.load("bad")
    if record is not None:
        assert JUDGE.find("flight", record.to_flight(), None)[0].code == "D510"
    store.take_unshown(ME)


@pytest.mark.parametrize("name", ["../secret", "a/b", ""])
def test_a_name_is_no_path(name: str, tmp_path: Path) -> None:
    put("x")
    (tmp_path / "secret.json").write_text('{"busy": true}')
    assert store.load(name) is None


def test_it_can_be_switched_off_and_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not store.is_off()
    store.switch(on=False)
    assert store.is_off()
    store.switch(on=True)
    assert not store.is_off()
    monkeypatch.setenv("OUTLIVE_BLACKBOX", "off")
    assert store.is_off()


def left_behind(boot: str, busy: int, ending: int = notes_file.LIVES, started: float = 0.0) -> Path:
    """The folder of a kernel that is gone, as is its recorder."""
    folder = store.open_folder({"pid": 2**22 + 1, "pid_start": 7, "boot": boot, "started": started})
    with (folder / notes_file.NOTES_FILE).open("r+b") as file:
        notes = bytearray(file.read())
        notes_file.put_text(notes, json.dumps({"number": 3, "source": "f()"}).encode())
        for word, value in (
            (notes_file.BUSY, busy),
            (notes_file.ENDING, ending),
            (notes_file.BEGAN_NS, time.time_ns()),
        ):
            notes_file.set_word(notes, word, value)
        file.seek(0)
        file.write(notes)
    (folder / notes_file.FAULTS_FILE).write_text("Fatal Python error: Bus error\n\n")
    return folder


def test_what_a_killed_recorder_left_becomes_a_record() -> None:
    folder = left_behind(read_boot_id(), busy=1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} <= {0o600, 0o644}
    store.tidy()
    (name,) = store.names()
    record = store.load(name)
    assert record is not None
    assert (record.lost, record.cell_number, record.to_flight().signal) == (True, 3, "SIGBUS")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("boot", "busy", "ending"),
    [
        ("another", 1, notes_file.LIVES),
        ("", 0, notes_file.LIVES),
        ("", 1, notes_file.ASKED),
        ("", 1, notes_file.ORPHANED),
    ],
)
def test_a_system_that_went_down_is_no_death(boot: str, busy: int, ending: int) -> None:
    folder = left_behind(boot or read_boot_id(), busy, ending)
    store.tidy()
    assert (store.names(), folder.exists()) == ([], False)


def test_a_kernel_of_another_machine_is_left_alone() -> None:
    folder = left_behind("another", busy=1, started=time.time() - 86_400)
    store.tidy()
    assert (store.names(), folder.exists()) == ([], True)


def test_a_living_kernel_is_left_alone() -> None:
    about = {
        "pid": os.getpid(),
        "pid_start": process_start(os.getpid()),
        "boot": read_boot_id(),
    }
    folder = store.open_folder(about)
    store.tidy()
    assert folder.exists()


def test_notes_that_are_cut_or_torn_read_as_nothing() -> None:
    notes = bytearray(notes_file.SIZE)
    assert notes_file.get_text(notes) == {}
    notes_file.put_text(notes, b'{"number": 3}')
    assert notes_file.get_text(notes) == {"number": 3}
    notes_file.put_text(notes, b'{"number": 3')
    assert notes_file.get_text(notes) == {}
    notes_file.set_word(notes, notes_file.LENGTH, 1 << 40)
    assert notes_file.get_text(notes) == {}


def test_the_exit_status_comes_first_then_the_note_then_the_dump() -> None:
    dump = "Fatal Python error: Aborted\n"
    assert Record(status=11, exited=3, fault_trace=dump).to_flight().signal == "SIGSEGV"
    assert Record(status=139, fault_trace=dump).to_flight().signal == "SIGSEGV"  # with a core file
    assert Record(status=0x0500).to_flight().exit_code == 5
    assert Record(exited=3, fault_trace=dump).to_flight().exit_code == 3
    assert Record(fault_trace=dump).to_flight().signal == "SIGABRT"
    assert Record().to_flight().signal is None


def test_no_folder_takes_the_name_of_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "strftime", lambda *_: "20260101-000000")
    taken = set()
    for _ in range(5):
        folder = store.open_folder({"pid": os.getpid()})
        name = folder.name.removesuffix(".open")
        assert name not in taken
        taken.add(name)
        death_record.remove_folder(str(folder))
        put(name)
    assert len(store.names()) == 5


def test_standard_error_that_is_read_slowly_is_kept_and_without_a_reader_dropped() -> None:
    source, given = os.pipe()
    read, target = os.pipe()
    os.set_blocking(target, False)
    tee = StderrTee(source, target)
    os.write(given, b"last words")
    assert tee.read()
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(target, b"x" * 4096)
    tee.write()  # the pipe is full
    assert tee.wants()[1] == target
    os.read(read, 1 << 20)
    tee.write()
    assert os.read(read, 1 << 20) == b"last words"
    os.write(given, b"more")
    assert tee.read()
    os.close(read)
    tee.write()
    assert tee.target == -1
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(target)
    tee.close_source()
    os.close(given)
