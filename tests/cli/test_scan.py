"""`outlive scan`: tables in every form, exit codes, wrong words, Ctrl-C, and scans that are killed."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.cli.main import main
from tests.cli.processes import COMMAND, environment, run_on_terminal
from tests.fleet.made import models


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTLIVE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return models(tmp_path / "models", "healthy", "wasteful")


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_what_they_come_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", str(folder), "--device", "pixel-8"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "2 sound",
        "healthy_0.tflite",
        "pixel-8",
        "fits",
        "By number of files",
    ):
        assert words in shown


def test_a_death_ends_with_3_and_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models(folder, "deadly")
    assert main(["scan", str(folder), "--run", "--repeat", "2"]) == 3
    shown = capsys.readouterr().out
    assert "2 ran, 1 died" in shown
    assert "option-out-of-range 1" in shown


def test_what_does_not_fit_ends_with_4(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models(folder, "too_big")
    assert main(["scan", str(folder), "--device", "raspberry-pi-pico"]) == 4
    assert "raspberry-pi-pico" in capsys.readouterr().out


def test_a_broken_file_ends_with_1(folder: Path) -> None:
    (folder / "a\n\x1b[31m.tflite").write_bytes(b"nothing")
    assert main(["scan", str(folder)]) == 1


def test_every_form(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow", reason="pip install 'outlive[parquet]' to write .parquet")
    from pyarrow import parquet

    (folder / "=cmd\n<b>.tflite").write_bytes(b"nothing")
    names = [str(tmp_path / f"t.{suffix}") for suffix in ("csv", "parquet", "html", "jsonl")]
    outputs = [word for name in names for word in ("-o", name)]
    assert main(["scan", str(folder), "--device", "pixel-8", "--format", "json", *outputs]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"], document["rows"]) == ("outlive/1", "scan", 3)
    assert document["written"] == names

    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text("utf-8"))))
    assert [row["outcome"] for row in rows] == ["broken", "sound", "sound"]
    assert rows[1]["fits pixel-8"] == "fits"
    assert "\n" not in rows[0]["path"]

    columns = parquet.read_table(tmp_path / "t.parquet").to_pydict()
    assert columns["path"] == [row["path"] for row in rows]
    assert columns["planned_peak_bytes"][1] == int(rows[1]["planned_peak_bytes"])

    page = (tmp_path / "t.html").read_text("utf-8")
    assert "Content-Security-Policy" in page
    assert "<b>.tflite" not in page
    assert "healthy_0.tflite" in page
    assert len(lines(tmp_path / "t.jsonl")) == 3
    assert not list(tmp_path.glob("*.partial*"))


def test_a_table_alone_leaves_nothing_beside_it(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "only" / "t.csv"
    table.parent.mkdir()
    assert main(["scan", str(folder), "-o", str(table)]) == 0
    assert list(table.parent.iterdir()) == [table]


@pytest.mark.parametrize("name", ["./t.jsonl", ".//only//t.jsonl", "only/../t.jsonl", "{}/t.jsonl"])
def test_rows_stay_however_their_file_is_named(
    folder: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only").mkdir()
    monkeypatch.chdir(tmp_path)
    output = name.format(tmp_path)
    assert (
        main(
            [
                "scan",
                str(folder),
                "-o",
                output,
                "-o",
                "t.csv",
                "-o",
                os.path.join(".", output),
                "-o",
                "u.jsonl",
            ]
        )
        == 0
    )
    assert len(lines(Path(output))) == len(lines(Path("u.jsonl"))) == 2
    assert not list(tmp_path.glob("*.partial*"))


def test_a_full_disk_is_told_and_costs_nothing_that_was_written(tmp_path: Path) -> None:
    folder, rows = models(tmp_path / "models", "healthy", copies=8), tmp_path / "rows.jsonl"
    words = [*COMMAND, "scan", str(folder), "-o", str(rows), "--no-cache"]

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    full = subprocess.run(
        words,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=little_room,
        timeout=200,
    )
    assert full.returncode == 2
    assert f"cannot write {rows}: File too large" in full.stderr
    assert "go on with --resume" in full.stderr
    assert "Traceback" not in full.stderr
    before = [line for line in lines(rows) if line.endswith(b"\n")]
    assert 0 < len(before) < 8
    assert main(["scan", str(folder), "-o", str(rows), "--no-cache", "--resume"]) == 0
    assert lines(rows)[: len(before)] == before
    assert len(lines(rows)) == 8


def test_what_was_of_the_moment_is_tried_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    words = ["scan", str(folder), "--run", "--repeat", "1", "-o", str(rows), "--format", "json"]
    assert main([*words, "--memory", "1KB"]) == 1
    assert json.loads(capsys.readouterr().out)["outcomes"] == {"too large": 2}
    assert main([*words, "--memory", "1KB", "--resume"]) == 1
    assert json.loads(capsys.readouterr().out)["resumed"] == 0
    assert main([*words, "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["outcomes"] == {"ran": 2}
    assert main([*words, "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["resumed"] == 2


def test_without_a_file_the_document_holds_the_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", str(folder), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["kind"] for row in rows] == ["scan-row", "scan-row"]


def test_the_second_scan_knows_the_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for known in (0, 2):
        assert main(["scan", str(folder), "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["from_cache"] == known
    assert main(["scan", str(folder), "--format", "json", "--ignore", "M"]) == 0
    assert json.loads(capsys.readouterr().out)["from_cache"] == 0  # something else is asked
    assert main(["scan", str(folder), "--format", "json", "--no-cache"]) == 0
    assert json.loads(capsys.readouterr().out)["from_cache"] == 0


def test_what_got_worse(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    assert main(["scan", str(folder), "-o", str(old)]) == 0
    assert main(["scan", str(folder), "-o", str(new), "--against", str(old)]) == 0
    assert "no regressions" in capsys.readouterr().out
    (folder / "healthy_0.tflite").write_bytes((folder / "wasteful_0.tflite").read_bytes()[:4000])
    assert main(["scan", str(folder), "-o", str(new), "--against", str(old)]) == 1
    shown = capsys.readouterr().out
    assert "2 regressions" in shown
    assert "broken" in shown


def test_a_new_model_that_is_not_well_is_worse(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    assert main(["scan", str(folder), "-o", str(old)]) == 0
    models(folder, "healthy_int8")
    assert main(["scan", str(folder), "-o", str(new), "--against", str(old)]) == 0
    models(folder, "deadly")
    assert main(["scan", str(folder), "-o", str(new), "--against", str(old)]) == 1
    assert "a new file" in capsys.readouterr().out


def test_rows_of_wrong_kinds_are_no_rows(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old.jsonl"
    assert main(["scan", str(folder), "-o", str(old)]) == 0
    bodies = [json.loads(line) for line in lines(old)]
    bodies[0] |= {"peak_bytes": "many", "codes": {"Q103": "x"}}
    bodies[1] |= {"mtime_ns": [], "errors": None}
    old.write_text("".join(json.dumps(body) + "\n" for body in bodies))
    assert main(["scan", str(folder), "-o", str(tmp_path / "new.jsonl"), "--against", str(old)]) == 2
    assert "holds no row of a scan" in capsys.readouterr().err
    assert main(["scan", str(folder), "-o", str(old), "--resume"]) == 0
    assert len(lines(old)) == 4  # what is no row is left where it is


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "x.xlsx"], "must end with .jsonl, .csv, .parquet or .html"),
        (["-o", "nowhere/x.jsonl"], "there is no such folder"),
        (["--resume"], "name it with -o"),
        (["--against", "nowhere.jsonl"], "cannot be read"),
        (["--against", __file__], "holds no row of a scan"),
        (["--device", "toaster"], "unknown device 'toaster'"),
        (["--on", "spark://x"], "unknown engine"),
        (["--jobs", "0"], "jobs must be at least 1"),
        (["--memory", "lots"], "is not a size"),
        (["--repeat", "0"], "at least one call"),
        (["--seconds", "0"], "has passed already"),
        (["--select", "nonsense"], "nonsense"),
        (["--tolerance-peak", "much"], "is not a share"),
    ],
)
def test_wrong_words(folder: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", str(folder), *words]) == 2
    assert told in capsys.readouterr().err


def test_nothing_to_look_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["scan", str(tmp_path / "empty")]) == 2
    assert "no model found" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_told_first(folder: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    assert main(["scan", str(folder), "-o", str(old)]) == 0
    assert main(["scan", str(folder), "-o", str(old), "--against", str(old)]) == 2


def test_progress_on_a_terminal(folder: Path) -> None:
    code, sent = run_on_terminal("scan", str(folder), "--jobs", "1")
    assert code == 0
    assert "scanning" in sent
    assert "2/2" in sent or "0/2" in sent


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Enough to be in the middle of."""
    folder = models(tmp_path / "many", "healthy", copies=14)
    return models(folder, "deadly")


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "scan", *words],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"no {count} rows came")


def processes_about(word: str) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if word.encode() in entry.read_bytes():
                yield int(entry.parent.name)
        except OSError:
            continue


def wait_until_alone(word: str) -> list[int]:
    """Wait until no process of the scan is left; those that are."""
    deadline = time.monotonic() + 300
    left = [pid for pid in processes_about(word) if pid != os.getpid()]
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        left = [pid for pid in processes_about(word) if pid != os.getpid()]
    return left


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ended_in_the_middle_and_resumed(many: Path, tmp_path: Path, end: signal.Signals) -> None:
    rows, page = tmp_path / "rows.jsonl", tmp_path / "rows.csv"
    words = [str(many), "--run", "--repeat", "2", "--no-cache", "-o", str(rows), "-o", str(page)]
    process = started(*words)
    wait_for_lines(rows, 3)
    process.send_signal(end)
    _, errors = process.communicate(timeout=300)
    before = [line for line in lines(rows) if line.endswith(b"\n")]
    assert 3 <= len(before) < 15
    if end is not signal.SIGKILL:
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert f"{len(before)} rows are in {rows}; --resume goes on from there" in errors
        assert len(list(csv.reader(io.StringIO(page.read_text("utf-8"))))) == len(before) + 1
    assert wait_until_alone(str(tmp_path / "cache")) == []

    done = subprocess.run(
        [*COMMAND, "scan", *words, "--resume", "--format", "json"],
        env=environment(), capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    document = json.loads(done.stdout)
    assert document["resumed"] == len(before)
    assert document["outcomes"] == {"died": 1, "ran": 14}
    after = lines(rows)
    assert len(after) == 15
    assert after[: len(before)] == before  # nothing that was finished was done again


def test_a_line_cut_short_is_done_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    assert main(["scan", str(folder), "-o", str(rows), "--no-cache"]) == 0
    whole = lines(rows)
    rows.write_bytes(whole[0] + whole[1][:40])
    capsys.readouterr()
    words = ["scan", str(folder), "-o", str(rows), "--no-cache", "--resume", "--format", "json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["resumed"] == 1
    assert lines(rows)[0] == whole[0]
    assert len(lines(rows)) == 2


def test_a_file_that_changed_is_done_again_and_has_one_row(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    assert main(["scan", str(folder), "-o", str(rows)]) == 0
    (folder / "healthy_0.tflite").write_bytes((folder / "wasteful_0.tflite").read_bytes())
    capsys.readouterr()
    assert main(["scan", str(folder), "-o", str(rows), "--resume", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["resumed"] == 1
    assert len(lines(rows)) == 2
