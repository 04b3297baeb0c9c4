"""`outlive check` on folders, as linters do it: lines, a summary, ignore files, a baseline, fixes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.cli.main import main
from outlive.verbs.demo import copy_demo_models

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo models in an empty folder, which is the working directory."""
    here = tmp_path / "project"
    list(copy_demo_models(here))
    monkeypatch.chdir(here)
    return here


def check(capsys: Capture, *words: str, code: int) -> tuple[list[str], str]:
    """The lines on standard output, and what is on standard error."""
    assert main(["check", *words]) == code
    streams = capsys.readouterr()
    return streams.out.splitlines(), streams.err


def test_a_folder_gives_a_line_for_each_finding_and_a_summary(capsys: Capture) -> None:
    *lines, summary = check(capsys, ".", code=1)[0]
    found = [finding for name in sorted(os.listdir()) for finding in outlive.check(name)]
    assert len(lines) == len(found) == 10
    for line, finding in zip(lines, found, strict=True):
        assert re.match(r"\w+\.tflite: (error|warning|note)\[[A-Z]\d{3}\] ", line)
        assert f"{finding.severity.value}[{finding.code}] {finding.headline}" in line
    (error,) = [line for line in lines if "error[" in line]
    assert "(operator 3, LOCAL_RESPONSE_NORMALIZATION" in error
    assert summary == "Found 1 error, 9 notes in 5 models. --fix removes 4 of them."
    # This folder is the default, as for other linters.
    assert check(capsys, code=1)[0] == [*lines, summary]


def test_a_clean_folder_says_so(capsys: Capture) -> None:
    assert check(capsys, ".", "--select", "F", code=0)[0] == ["No findings in 5 models."]


def test_quiet_is_one_line_for_each_file(capsys: Capture) -> None:
    lines, _ = check(capsys, ".", "-q", code=1)
    assert [line.partition(":")[0] for line in lines] == sorted(os.listdir())


def test_rules_that_need_more_are_named_with_v_only(capsys: Capture) -> None:
    assert "Not checked" not in "\n".join(check(capsys, ".", code=1)[0])
    assert "Not checked" not in "\n".join(check(capsys, "healthy.tflite", code=0)[0])
    assert "Not checked" in "\n".join(check(capsys, "healthy.tflite", "-v", code=0)[0])


def test_ignore_files_leave_out_what_they_name(folder: Path, capsys: Capture) -> None:
    (folder / ".gitignore").write_text("deadly.tflite\nbuild/\n", encoding="utf-8")
    (folder / ".outliveignore").write_text("too_big.*\n", encoding="utf-8")
    (folder / "build").mkdir()
    os.rename("wasteful.tflite", "build/wasteful.tflite")
    assert check(capsys, ".", code=0)[0][-1] == "Found 1 note in 2 models."
    assert check(capsys, ".", "--no-ignore-files", code=1)[0][-1].endswith(
        "in 5 models. --fix removes 4 of them."
    )
    # What is named is wanted, a folder too; unless we are told otherwise.
    assert check(capsys, "deadly.tflite", code=1)[0]
    assert check(capsys, "build", "healthy.tflite", code=0)[0][-1].endswith(
        "in 2 models. --fix removes 4 of them."
    )
    assert "no model to check" in check(capsys, "deadly.tflite", "--force-exclude", code=0)[0][0]


def test_the_nearest_ignore_file_goes_first(folder: Path, capsys: Capture) -> None:
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("*.tflite\n", encoding="utf-8")
    kept = folder / "deep" / "er"
    kept.mkdir(parents=True)
    (folder / "deep" / ".gitignore").write_text("!kept*.tflite\n", encoding="utf-8")
    for name in ("kept.tflite", "other.tflite"):
        (kept / name).write_bytes((folder / "healthy.tflite").read_bytes())
    lines, _ = check(capsys, ".", "-q", code=0)
    assert [line.partition(":")[0] for line in lines] == ["deep/er/kept.tflite"]
    # The same from a folder below: files above count, up to the repository.
    os.chdir(folder / "deep" / "er")
    lines, _ = check(capsys, ".", "-q", code=0)
    assert [line.partition(":")[0] for line in lines] == ["kept.tflite"]


def test_folders_of_tools_are_never_entered(folder: Path, capsys: Capture) -> None:
    for name in (".venv/lib", "node_modules/x", ".git/lfs"):
        (folder / name).mkdir(parents=True)
        (folder / name / "deadly.tflite").write_bytes((folder / "deadly.tflite").read_bytes())
    assert check(capsys, ".", code=1)[0][-1].startswith("Found 1 error, 9 notes in 5 models.")


def test_a_folder_in_which_all_is_ignored_is_a_matter_of_usage(folder: Path, capsys: Capture) -> None:
    (folder / ".gitignore").write_text("*.tflite\n", encoding="utf-8")
    _, said = check(capsys, ".", code=2)
    assert (
        said == "outlive check: 5 models in . are left out by ignore files; --no-ignore-files checks them\n"
    )


def test_a_baseline_keeps_known_findings_out(folder: Path, capsys: Capture) -> None:
    lines, said = check(capsys, ".", "--write-baseline", "known.json", code=0)
    assert said == "wrote 10 findings to known.json\n"
    assert lines == ["No findings in 5 models. 10 known findings in the baseline."]
    assert check(capsys, ".", "--baseline", "known.json", code=0)[0] == lines
    # A new finding is reported; where the command is run from does not matter.
    (folder / "new.tflite").write_bytes((folder / "deadly.tflite").read_bytes())
    os.chdir(folder.parent)
    words = ["project", "--baseline", "project/known.json"]
    lines, _ = check(capsys, *words, code=1)
    assert all(line.startswith("project/new.tflite: ") for line in lines[:-1])
    assert lines[-1] == "Found 1 error, 1 note in 6 models. 10 known findings in the baseline."
    assert len(outlive.check("project", baseline="project/known.json")) == 2


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '{"schema": "outlive/1", "kind": "baseline", "findings": [3]}', "\0"]
)
def test_a_file_that_is_no_baseline_is_refused(text: str, folder: Path, capsys: Capture) -> None:
    (folder / "known.json").write_text(text, encoding="utf-8")
    _, said = check(capsys, ".", "--baseline", "known.json", code=2)
    assert said == "outlive check: known.json is not a baseline; --write-baseline writes one\n"
    os.remove("known.json")
    assert "cannot be read: No such file" in check(capsys, ".", "--baseline", "known.json", code=2)[1]


def test_fix_removes_waste_and_keeps_the_old_file(folder: Path, capsys: Capture) -> None:
    before = (folder / "wasteful.tflite").read_bytes()
    lines, said = check(capsys, ".", "--fix", code=1)
    assert lines[-1] == "Found 1 error, 5 notes in 5 models. Fixed 4 findings."
    assert re.fullmatch(
        r"fixed wasteful.tflite: M101, M102, M103, M104, 25.6 KiB to [\d.]+ KiB; "
        r"the old file is wasteful.tflite.orig\n",
        said,
    )
    assert (folder / "wasteful.tflite.orig").read_bytes() == before
    after = (folder / "wasteful.tflite").read_bytes()
    assert len(after) < len(before)
    old, new = outlive.run(before), outlive.run(after)
    assert [one.sha256 for one in old.outputs] == [one.sha256 for one in new.outputs]
    # The file with an error, and those without waste, are as they were; a second time there is nothing to do.
    for name in ("deadly", "healthy", "healthy_int8", "too_big"):
        assert (folder / f"{name}.tflite").read_bytes() == demo_models.path(name).read_bytes()
    assert check(capsys, ".", "--fix", code=1)[1] == ""
    assert len(os.listdir()) == 6


def test_fix_never_replaces_an_older_backup(folder: Path, capsys: Capture) -> None:
    (folder / "wasteful.tflite.orig").write_text("precious", encoding="utf-8")
    _, said = check(capsys, "wasteful.tflite", "--fix", code=0)
    assert "the old file is wasteful.tflite.1.orig" in said
    assert (folder / "wasteful.tflite.orig").read_text(encoding="utf-8") == "precious"


def test_fix_changes_nothing_where_it_cannot_keep_the_old_file(folder: Path, capsys: Capture) -> None:
    longest = folder / ("x" * (255 - len(".tflite")) + ".tflite")  # no name beside it is free
    os.rename("wasteful.tflite", longest)
    before = longest.read_bytes()
    _, said = check(capsys, longest.name, "--fix", code=2)
    assert "File name too long" in said
    assert longest.read_bytes() == before
    assert len(os.listdir()) == 5


def test_json_of_a_folder_is_as_it_was(capsys: Capture) -> None:
    assert main(["check", ".", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"schema", "kind", "files"}
    assert [row["model"]["path"] for row in found["files"]] == sorted(os.listdir())
