"""`outlive blackbox` in a terminal: shows, lists, removes, switches off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.cli.main import main
from outlive.kernel_deaths import record_store
from outlive.process.child.watcher import notes_file

DEATH: dict[str, Any] = {
    "pid": 7, "busy": True, "status": 11, "started": 1.0, "ended": 2.0, "notebook": "a.ipynb",
    "cell": {"number": 12, "source": "f()\n", "seconds": 3.4, "files": {"x.py": "cell [12]"}},
    "before_bytes": 10_000_000, "memory_bytes": 8_000_000_000, "oom_kills": [0, 0],
    "timeline": [{"seconds": 0.1, "bytes": 5_000_000, "rss_bytes": 20_000_000, "mark": None}],
    "fault_trace": 'Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n'
                   '  File "x.py", line 1 in f\n',
    "stderr_tail": "last words\n",
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OUTLIVE_BLACKBOX_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def dead(folder: Path) -> None:
    notes_file.write_private(str(folder / "20260101-101010-7.json"), DEATH)
    notes_file.write_private(str(folder / "20260102-101010-8.shown.json"), {**DEATH, "status": 0x300})


def test_the_last_death_is_told(dead: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blackbox", "show", "20260101-101010-7"]) == 0
    said = capsys.readouterr().out
    for words in ("in cell [12] after 3.4 s", "error[D504]", "cell [12]:1 in f", "last words", "f()",
                  "9.54 MiB before the cell", "14.3 MiB at the end"):  # fmt: skip
        assert words in said
    assert main(["blackbox", "last"]) == main(["blackbox"]) == 0
    assert capsys.readouterr().out.count("error[D509]") == 2


def test_all_deaths_are_listed(dead: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blackbox", "list"]) == 0
    first, second = [line for line in capsys.readouterr().out.splitlines() if "2026010" in line]
    assert "20260102-101010-8" in first
    assert "exit code 3" in first
    assert "SIGSEGV" in second


def test_programs_get_json(dead: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blackbox", "show", "20260101-101010-7", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["signal"], document["stage"]) == ("blackbox", "SIGSEGV", "cell")
    assert document["cell"] == {"number": 12, "source": "f()\n", "seconds": 3.4}
    assert document["findings"][0]["code"] == "D504"
    assert main(["blackbox", "list", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["deaths"]) == 2


def test_nothing_to_show_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blackbox", "last"]) == 1
    assert main(["blackbox", "list"]) == 0
    assert main(["blackbox", "show", "nobody"]) == 1
    assert main(["blackbox", "show"]) == main(["blackbox", "clear", "x"]) == 2
    assert capsys.readouterr().out == ""


def test_records_can_be_removed_and_recording_switched_off(
    dead: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["blackbox", "clear"]) == 0
    assert "removed 2 records" in capsys.readouterr().out
    assert record_store.names() == []
    assert main(["blackbox", "off"]) == 0
    assert record_store.is_off()
    assert main(["blackbox", "on"]) == 0
    assert not record_store.is_off()


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ({"status": 9, "oom_kills": [3, 4]}, "D501", "%%outlive --memory 5600MB"),
        ({"status": 11}, "D504", "%%outlive"),
        ({"status": 0x300, "exited": 3}, "D509", "Python code called os._exit(3)"),
        ({"status": None, "fault_trace": "", "lost": True}, "D510", "used 14.3 MiB of 7.45 GiB"),
    ],
)
def test_what_is_to_be_done_is_about_a_cell(
    folder: Path, capsys: pytest.CaptureFixture[str], content: dict[str, Any], code: str, words: str
) -> None:
    notes_file.write_private(str(folder / "one.json"), {**DEATH, **content})
    assert main(["blackbox", "-v"]) == 0
    said = capsys.readouterr().out
    assert f"error[{code}]" in said
    assert words in said
    assert "FILE" not in said
    assert "error.flight" not in said


def test_a_death_between_cells_offers_no_cell(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes_file.write_private(str(folder / "one.json"), {**DEATH, "busy": False, "status": 9})
    assert main(["blackbox"]) == 0
    assert "%%outlive" not in capsys.readouterr().out


def test_python_has_the_same(dead: None) -> None:
    (last,) = outlive.blackbox()
    assert (last.record.cell_number, last.finding.code) == (12, "D509")
    assert [death.finding.code for death in outlive.blackbox("list")] == ["D509", "D504"]
    assert outlive.blackbox("show", "20260101-101010-7").findings[0].code == "D504"
    assert len(repr(outlive.blackbox("list"))) < 400
    assert not outlive.blackbox("off").recording
    assert outlive.blackbox("on").recording
    assert outlive.blackbox("clear").removed == 2
    assert len(outlive.blackbox()) == 0
    with pytest.raises(LookupError, match="unknown record"):
        outlive.blackbox("show", "none")
    with pytest.raises(ValueError, match="unknown action"):
        outlive.blackbox("everything")
    with pytest.raises(ValueError, match="takes no name"):
        outlive.blackbox("last", "20260101-101010-7")
