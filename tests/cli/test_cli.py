"""The command line inside this process: words in, text and exit codes out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.cli import exits
from outlive.cli.commands import read
from outlive.cli.main import COMMANDS, main
from outlive.rules.catalogue import load_rules
from tests.rules.small import dense, save

HEALTHY = str(demo_models.path("healthy"))
WASTEFUL = str(demo_models.path("wasteful"))

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a CI service sets must not reach these tests."""
    for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def broken(folder: Path) -> str:
    return str(save(folder, dense(op={"inputs": [0, 1, 99]}), "broken.tflite"))


def test_exit_codes_are_those_of_the_documentation() -> None:
    codes = (exits.CLEAN, exits.FINDINGS, exits.USAGE, exits.OUR_BUG, exits.INTERRUPTED)
    assert codes == (0, 1, 2, 70, 130)


def test_the_version_is_that_of_the_package(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"outlive {outlive.__version__}\n" == f"outlive {version('outlive')}\n"


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["notebook", "--help"]], ids=" ".join)
def test_only_what_was_asked_for_is_loaded(words: list[str]) -> None:
    program = "import sys; from outlive.cli.main import main; main(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    commands = [name for name in COMMANDS if f"outlive.cli.commands.{name}" in loaded]
    assert commands == [word for word in words if word in COMMANDS]
    unwanted = [name for name in loaded if name.startswith(("outlive.rules", "rich", "numpy"))]
    assert unwanted == []


@pytest.mark.parametrize("words", [["read", HEALTHY], [HEALTHY]])
def test_a_sound_model_gives_0_and_a_summary(words: list[str], capsys: Capture) -> None:
    assert main(words) == 0
    streams = capsys.readouterr()
    assert f"{HEALTHY}  " in streams.out.splitlines()[0]
    assert "43.6 KiB" in streams.out
    assert "indings  1 note" in streams.out
    assert streams.err == ""


@pytest.mark.parametrize("words", [["read", "gone.tflite"], ["gone.tflite"], ["./gone"]])
def test_a_missing_file_is_a_finding_and_gives_1(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    streams = capsys.readouterr()
    assert f"error[F101]: File not found: {words[-1]}\n" in streams.out
    assert streams.err == ""


def test_a_broken_model_shows_what_is_wrong_and_nothing_else(tmp_path: Path, capsys: Capture) -> None:
    assert main(["read", broken(tmp_path)]) == 1
    text = capsys.readouterr().out
    assert "error[F112]" in text
    assert "File contents" not in text


def test_tolerant_shows_what_can_be_read_too(tmp_path: Path, capsys: Capture) -> None:
    assert main(["read", broken(tmp_path), "--tolerant"]) == 1
    text = capsys.readouterr().out
    assert "error[F112]" in text
    assert "File contents" in text


def test_several_files_make_one_table(tmp_path: Path, capsys: Capture) -> None:
    assert main(["read", HEALTHY, WASTEFUL]) == 0
    assert capsys.readouterr().out.count(".tflite") == 2
    assert main(["read", HEALTHY, broken(tmp_path), "gone.tflite"]) == 1
    text = capsys.readouterr().out
    assert "F112 Index out of range in the model: " in text
    assert "F101 File not found: " in text


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--ops", "op  type               version"),
        ("--tensors", "tensor  name"),
        ("--graph", "CONV_2D(image 1x64x64x3, "),
    ],
)
def test_lists_replace_the_summary(option: str, words: str, capsys: Capture) -> None:
    assert main(["read", HEALTHY, option]) == 0
    text = capsys.readouterr().out
    assert words in text
    assert "File contents" not in text
    assert "note[" not in text


def test_json_of_one_file_and_of_several(capsys: Capture) -> None:
    assert main(["read", HEALTHY, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"]["path"] == HEALTHY
    assert main(["read", HEALTHY, WASTEFUL, "--format", "json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [item["model"]["path"] for item in files] == [HEALTHY, WASTEFUL]


def test_json_of_a_broken_file_gives_1(tmp_path: Path, capsys: Capture) -> None:
    assert main(["read", broken(tmp_path), "--format", "json"]) == 1
    assert [row["code"] for row in json.loads(capsys.readouterr().out)["findings"]] == ["F112"]


@pytest.mark.parametrize("command", [["read", HEALTHY], ["explain"], ["explain", "F104"]])
@pytest.mark.parametrize("form", ["text", "json"])
def test_output_goes_to_the_file_instead(
    command: list[str], form: str, tmp_path: Path, capsys: Capture
) -> None:
    assert main([*command, "--format", form]) == 0
    shown = capsys.readouterr().out
    target = tmp_path / "out"
    assert main([*command, "--format", form, "--output", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert target.read_text(encoding="utf-8") == shown


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("name", [".", "no/such/folder/out"])
def test_output_that_cannot_be_written_is_a_matter_of_usage(
    name: str, form: str, tmp_path: Path, capsys: Capture
) -> None:
    target = tmp_path / name
    assert main(["read", HEALTHY, "--format", form, "--output", str(target)]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith(f"outlive: cannot write {target}: ")
    assert len(streams.err.splitlines()) == 1


def test_explain_lists_every_rule(capsys: Capture) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:4] for line in lines] == [rule.code for rule in load_rules()]
    assert all(rule.summary in line for rule, line in zip(load_rules(), lines, strict=True))


@pytest.mark.parametrize("word", ["F104", "f104", "git-lfs-pointer"])
def test_explain_shows_the_page_of_a_rule(word: str, capsys: Capture) -> None:
    assert main(["explain", word]) == 0
    text = capsys.readouterr().out
    assert text.startswith("F104 git-lfs-pointer (error, since 0.1; needs: file)\n")
    assert "\nWhat to do\n    Fetch the real file with `git lfs pull`.\n" in text


def test_explain_shows_several_pages(capsys: Capture) -> None:
    assert main(["explain", "F104", "M101"]) == 0
    text = capsys.readouterr().out
    assert text.index("F104 git-lfs-pointer") < text.index("\n\nM101 duplicate-buffers")


def test_explain_as_json(capsys: Capture) -> None:
    assert main(["explain", "F104", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (rule,) = found["rules"]
    assert (found["schema"], found["kind"]) == ("outlive/1", "explain")
    assert (rule["code"], rule["name"], rule["severity"]) == ("F104", "git-lfs-pointer", "error")
    assert rule["page"].startswith(rule["headline"])


def test_explain_guesses_what_was_meant(capsys: Capture) -> None:
    assert main(["explain", "F104", "git-lsf-pointer"]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith("outlive explain: unknown rule 'git-lsf-pointer'; did you mean git-lfs-")


def test_the_demo_answers_four_questions_on_two_screens(capsys: Capture) -> None:
    before = Path.cwd()
    assert main(["demo"]) == 0
    assert Path.cwd() == before
    text = capsys.readouterr().out
    assert len(re.findall(r"^\d\. .*\?", text, re.MULTILINE)) == 4
    for code in ("M101", "O109", "M201"):
        assert f"[{code}]" in text
    assert len(text.splitlines()) <= 100
    assert str(demo_models.path("deadly").parent) not in text


def test_the_demo_as_json(capsys: Capture) -> None:
    assert main(["demo", "--format", "json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [Path(item["model"]["path"]).stem for item in files] == list(demo_models.NAMES)


def test_the_demo_models_can_be_copied(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "a" / "b"
    assert main(["demo", "--copy", str(folder)]) == 0
    text = capsys.readouterr().out
    for demo in demo_models.DEMO_MODELS:
        assert (folder / demo.file).read_bytes() == demo_models.path(demo.name).read_bytes()
        assert f"{folder / demo.file}  {demo.what}" in text


def test_demo_models_that_cannot_be_copied_are_a_matter_of_usage(tmp_path: Path, capsys: Capture) -> None:
    taken = save(tmp_path, b"", "taken")
    assert main(["demo", "--copy", str(taken)]) == 2
    assert capsys.readouterr().err.startswith(f"outlive demo: cannot copy to {taken}: ")


def test_an_error_of_our_own_gives_70_and_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def fail(_: object) -> int:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(read, "run", fail)
    assert main(["read", HEALTHY]) == 70
    errors = capsys.readouterr().err
    assert "ZeroDivisionError: planted" in errors
    assert errors.splitlines()[-1].startswith("outlive: this is a bug in outlive, not in your model")


def test_an_interrupt_gives_130_and_no_word(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(read, "run", interrupt)
    assert main(["read", HEALTHY]) == 130
    streams = capsys.readouterr()
    assert (streams.out, streams.err) == ("", "")
