"""What is asked of some files only: patterns, budgets and devices, expectations, rules that are ignored."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from outlive import demo_models
from outlive.cli.main import main
from outlive.project.config import find_config, is_match


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two folders of models."""
    monkeypatch.chdir(tmp_path)
    for place in ("pico", "phone/deep"):
        (tmp_path / place).mkdir(parents=True)
    shutil.copy(demo_models.path("healthy_int8"), tmp_path / "pico" / "small.tflite")
    shutil.copy(demo_models.path("healthy"), tmp_path / "phone" / "deep" / "large.tflite")
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """The documents of both models, by folder."""
    files = ["pico/small.tflite", "phone/deep/large.tflite"]
    assert main(["check", *files, *words, "--format", "json"]) == code
    rows = json.loads(capsys.readouterr().out)["files"]
    return {row["model"]["path"].partition("/")[0]: row for row in rows}


def codes(row: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in row["findings"]}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.tflite", {"a.tflite", "x/a.tflite", "x/y/b.tflite"}),
        ("/*.tflite", {"a.tflite"}),
        ("x/*.tflite", {"x/a.tflite"}),
        ("./x/*.tflite", {"x/a.tflite"}),
        ("x/**", {"x/a.tflite", "x/y/b.tflite"}),
        ("x/", {"x/a.tflite", "x/y/b.tflite"}),
        ("x", {"x/a.tflite", "x/y/b.tflite"}),
        ("/x/", {"x/a.tflite", "x/y/b.tflite"}),
        ("y", {"x/y/b.tflite"}),
        ("y/", {"x/y/b.tflite"}),
        ("x/y", {"x/y/b.tflite"}),
        ("x/y/", {"x/y/b.tflite"}),
        ("/y/", set()),
        ("./y", set()),
        ("a.tflite/", set()),
        ("x[!a]y", set()),
        ("\\a.tflite", {"a.tflite", "x/a.tflite"}),
        ("\\*.tflite", set()),
        ("**/b.tflite", {"x/y/b.tflite"}),
        ("x/**/a.tflite", {"x/a.tflite"}),
        ("[ab].tflite", {"a.tflite", "x/a.tflite", "x/y/b.tflite"}),
        ("[!a].tflite", {"x/y/b.tflite"}),
        ("?.tflite", {"a.tflite", "x/a.tflite", "x/y/b.tflite"}),
        ("a.tfl", set()),
        ("a+.tflite", set()),
        ("[z-a].tflite", set()),
    ],
)
def test_patterns_name_what_people_mean(folder: Path, pattern: str, names: set[str]) -> None:
    every = ("a.tflite", "x/a.tflite", "x/y/b.tflite")
    assert {name for name in every if is_match(name, [pattern], folder)} == names


def test_patterns_are_those_of_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    names = [
        "a.tflite",
        "broken/a.tflite",
        "tests/broken/b.tflite",
        "tests/x/broken/deep/c.tflite",
        "z/[b].tflite",
    ]
    patterns = ["broken", "broken/", "/broken", "tests/broken", "tests/*", "tests/**", "**/broken/*.tflite"]
    patterns += [
        "tests/**/c.tflite",
        "*.tflite",
        "?.tflite",
        "[a-b].tflite",
        "\\[b].tflite",
        "deep/",
        "**/deep",
        "z/",
    ]
    subprocess.run(["git", "init", "-q"], check=True)
    for pattern in patterns:
        Path(".gitignore").write_text(pattern + "\n")
        words = ["git", "check-ignore", "--no-index", "--stdin"]
        done = subprocess.run(words, input="\n".join(names), capture_output=True, text=True, check=False)
        ours = {name for name in names if is_match(name, [pattern], folder)}
        assert ours == set(done.stdout.splitlines()), pattern


def test_a_pattern_that_takes_back_another_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "outlive.toml").write_text('exclude = ["pico/", "!pico/small.tflite"]\n')
    assert main(["check", "pico/small.tflite"]) == 2
    assert "no pattern takes back another" in capsys.readouterr().err


def test_a_file_elsewhere_is_named_whole(folder: Path) -> None:
    outside = folder.parent / "elsewhere.tflite"
    assert is_match(outside, ["elsewhere.tflite"], folder)
    assert not is_match(outside, ["elsewhere.tflite/x"], folder)


def test_each_file_has_its_own_budget(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "outlive.toml").write_text(
        'ram = "1KB"\n[[overrides]]\nfiles = "pico/*"\ndevice = "raspberry-pi-pico"\n'
    )
    rows = checked(capsys, "--select", "M2", code=4)
    assert rows["pico"]["verdict"]["budget"]["title"].startswith("Raspberry Pi Pico")
    assert rows["phone"]["verdict"]["word"] == "does not fit"
    assert rows["phone"]["verdict"]["budget"]["ram_bytes"] == 1000


def test_a_later_override_counts(folder: Path) -> None:
    (folder / "outlive.toml").write_text(
        'ignore = ["M101"]\n[[overrides]]\nfiles = "*.tflite"\nram = "1MB"\nignore = ["M102"]\n'
        '[[overrides]]\nfiles = "pico/"\ndevice = "esp32"\nselect = ["Q"]\n'
    )
    config = find_config(folder)
    pico, phone = config.settings_of("pico/small.tflite"), config.settings_of("phone/deep/large.tflite")
    assert (pico.devices, pico.ram, pico.select) == (("esp32",), None, ("Q",))
    assert pico.ignore == phone.ignore == ("M101", "M102")
    assert (phone.devices, phone.ram) == ((), "1MB")


def test_several_devices_are_all_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '[[overrides]]\nfiles = "phone/"\ndevice = ["raspberry-pi-zero-2-w", "arduino-uno-r4-minima"]\n'
    (folder / "outlive.toml").write_text(text)
    row = checked(capsys, "--select", "M2", code=4)["phone"]
    assert row["verdict"]["word"] == "does not fit"
    assert row["verdict"]["budget"]["title"].startswith("Arduino UNO R4 Minima")
    assert codes(row) == {"M201"}


def test_the_command_line_takes_the_place_of_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "outlive.toml").write_text('[[overrides]]\nfiles = "*"\nram = "1KB"\n')
    assert checked(capsys, "--select", "M2", "--ram", "1GB")["pico"]["verdict"]["word"] == "fits"


def test_an_expectation_of_some_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "outlive.toml").write_text('[[overrides]]\nfiles = "phone/**"\nexpect = "int8"\n')
    rows = checked(capsys, "--select", "Q2", code=1)
    assert codes(rows["phone"]) == {"Q201"}
    assert not codes(rows["pico"])


def test_reasons_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "outlive.toml").write_text('[ignore]\nM101 = "weights are streamed"\n')
    assert main(["check", "pico/small.tflite"]) == 0
    assert "Ignored: M101, because weights are streamed" in capsys.readouterr().out
    assert main(["check", "pico/small.tflite", "--ignore", "M102"]) == 0
    assert "because" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('expect = "int9"', "did you mean int8"),
        ('accelerator = "cpuu"', "cpuu"),
        ('[[overrides]]\nfiles = "pico/"\ndevice = "raspberry-pi-picco"', "raspberry-pi-pico"),
        ('[[overrides]]\nfiles = "pico/"\nignore = ["M999"]', "M999"),
    ],
)
def test_words_that_mean_nothing_are_usage(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (folder / "outlive.toml").write_text(text + "\n")
    assert main(["check", "pico/small.tflite"]) == 2
    assert said in capsys.readouterr().err
