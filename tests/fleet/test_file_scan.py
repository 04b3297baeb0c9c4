"""One file, one row: what real models come to in real workers, and what hostile files cannot do."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from outlive import demo_models
from outlive.arena.devices import find_device
from outlive.process.factories import close_factories
from outlive.verbs import examine as examining
from outlive.verbs.scan import examine_task as examine
from tests.fleet.made import task

DEMO = {name: str(demo_models.path(name)) for name in demo_models.NAMES}


@pytest.fixture(scope="module", autouse=True)
def _no_workers_left() -> object:
    yield
    close_factories()
    return None


def test_a_healthy_model_is_read_checked_and_planned() -> None:
    row = examine(task(DEMO["healthy"], devices=(find_device("raspberry-pi-pico"), find_device("pixel-8"))))
    assert (row.outcome, row.errors) == ("sound", 0)
    assert row.operators
    assert row.peak_bytes
    assert row.run is None
    assert [(item.device, item.word) for item in row.devices] == [
        ("raspberry-pi-pico", row.devices[0].word),
        ("pixel-8", "fits"),
    ]
    assert row.devices[0].word in ("fits", "tight", "does not fit")
    assert len(row.sha256) == 64


def test_a_bank_of_memory_has_to_hold_the_arena_with_its_margin() -> None:
    board = find_device("raspberry-pi-pico")
    [planned] = examine(task(DEMO["healthy_int8"], devices=(board,))).devices
    assert planned.word == "fits"
    tight = replace(board, largest_block_bytes=(planned.needed_bytes or 0) + 16)
    [found] = examine(task(DEMO["healthy_int8"], devices=(tight,))).devices
    assert found.word == "does not fit"


def test_what_is_wrong_with_it_is_said_without_a_run() -> None:
    row = examine(task(DEMO["deadly"]))
    assert (row.outcome, row.errors, list(row.codes)[-1]) == ("flawed", 1, "O109")


def test_it_runs() -> None:
    row = examine(task(DEMO["healthy"], run=True, repeat=3))
    assert row.outcome == "ran"
    assert row.run is not None
    assert (row.run.milliseconds or 0) > 0
    assert (row.run.peak_bytes or 0) > 0
    output = row.run.outputs[0]
    assert (output.name, output.shape, len(output.samples)) == ("probabilities", (1, 10), 10)
    again = examine(task(DEMO["healthy"], run=True, repeat=3))
    assert again.run is not None
    assert again.run.outputs == row.run.outputs


def test_a_deadly_model_has_a_row_that_says_why() -> None:
    row = examine(task(DEMO["deadly"], run=True))
    assert row.outcome == "died"
    assert row.died
    assert row.death is not None
    assert (row.death.signal, row.death.stage) == ("SIGSEGV", "invoke")
    assert row.death.op == "op 3 LOCAL_RESPONSE_NORMALIZATION"
    assert row.death.cause == "option-out-of-range"
    assert row.death.works_with == ("reference kernels",)


def test_a_model_too_large_for_the_budget_is_reported_and_not_run() -> None:
    row = examine(task(DEMO["too_big"], run=True, memory_bytes=64_000_000))
    assert (row.outcome, row.run, row.death) == ("too large", None, None)
    assert "not run:" in row.note
    assert "61.0 MiB available" in row.note


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "half.tflite"
    path.write_bytes(Path(DEMO["healthy"]).read_bytes()[:3000])
    row = examine(task(path, run=True))
    assert row.outcome in ("broken", "died")
    assert row.errors


@pytest.mark.parametrize("content", [b"", b"<html>", b"\0" * 100])
def test_what_is_no_model(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no.tflite"
    path.write_bytes(content)
    row = examine(task(path, run=True))
    assert (row.outcome, row.run) == ("broken", None)
    assert row.findings[0].severity == "error"


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tflite")
    (tmp_path / "loop.tflite").symlink_to(tmp_path / "loop.tflite")
    (tmp_path / "folder.tflite").mkdir()
    for name in ("pipe", "loop", "folder", "nowhere"):
        row = examine(task(tmp_path / f"{name}.tflite", run=True))
        assert row.outcome == "unreadable", name
        assert row.errors, name


def change_while_looked_at(path: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut the file short, each of the first times that it has just been read."""
    check, left = examining.check_reading, [times]

    def change(*given: Any) -> Any:
        if left[0]:
            left[0] -= 1
            path.write_bytes(path.read_bytes()[:-100])
        return check(*given)

    monkeypatch.setattr(examining, "check_reading", change)


def test_a_file_that_changes_once_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "moving.tflite"
    path.write_bytes(Path(DEMO["healthy"]).read_bytes())
    change_while_looked_at(path, 1, monkeypatch)
    row = examine(task(path))
    assert not row.changed
    assert row.file_bytes == path.stat().st_size


def test_a_file_that_changes_all_the_time_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "moving.tflite"
    path.write_bytes(Path(DEMO["healthy"]).read_bytes())
    change_while_looked_at(path, 5, monkeypatch)
    assert examine(task(path)).changed


def test_a_file_that_rests_has_not_changed() -> None:
    assert not examine(task(DEMO["healthy"])).changed


def test_a_bug_of_ours_costs_its_own_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(examining, "check_reading", broken)
    row = examine(task(DEMO["healthy"]))
    assert row.outcome == "failed"
    assert row.note == "a bug in outlive: ZeroDivisionError: planted"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EMFILE, "Too many open files", "table.json"), "Too many open files: table.json"),
        (MemoryError(), "not enough memory"),
    ],
)
def test_what_the_system_refuses_is_no_bug_of_ours(
    error: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> object:
        raise error

    monkeypatch.setattr(examining, "check_reading", refuse)
    row = examine(task(DEMO["healthy"]))
    assert (row.outcome, row.passing) == ("failed", True)
    assert row.note.endswith(words)
    assert "bug" not in row.note


def test_a_planner_that_falls_over_costs_its_own_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(examining, "plan_model", broken)
    row = examine(task(DEMO["wasteful"], devices=(find_device("pixel-8"),)))
    assert (row.outcome, row.peak_bytes) == ("sound", None)
    assert row.devices[0].word == "not planned"
    assert "not planned: ZeroDivisionError: planted" in row.note
    assert row.codes
