"""`outlive check`, as a user types it: files, budgets, values, rules, formats and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.cli.main import main
from outlive.surgery import write
from tests.rules.feeds import lookup, small
from tests.rules.small import save


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, below no configuration but the test's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outlive.toml").write_text("")
    return tmp_path


def path(name: str) -> str:
    return str(demo_models.path(name))


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """What the command prints as JSON."""
    assert main(["check", *words, "--format", "json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def codes(found: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in found["findings"]]


def half(folder: Path) -> str:
    file = folder / "half.tflite"
    file.write_bytes(demo_models.path("healthy").read_bytes()[:20_000])
    return str(file)


def test_the_document_has_the_fields_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, path("wasteful"))
    assert (found["schema"], found["kind"]) == ("outlive/1", "check")
    assert found["model"]["path"] == path("wasteful")
    assert len(found["model"]["sha256"]) == 64
    assert "M101" in codes(found)
    reasons = {item["code"]: item["reason"] for item in found["not_checked"]}
    assert reasons["M201"] == "needs verdict"
    assert reasons["I301"] == "needs inputs"
    assert reasons["D504"] == "needs flight"
    assert found["verdict"] is None


def test_a_broken_file_ends_with_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, half(folder), code=1)
    assert codes(found) == ["F110"]
    assert main(["check", half(folder)]) == 1
    assert "error[F110]" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert codes(document(capsys, "nowhere.tflite", code=1)) == ["F101"]


def test_a_budget_brings_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    words = (path("too_big"), "--accelerator", "builtin", "--ram", "64MB")
    found = document(capsys, *words, code=4)
    assert codes(found)[0] == "M201"
    assert found["verdict"]["word"] == "does not fit"
    assert main(["check", *words]) == 4
    assert "does not fit" in capsys.readouterr().out
    assert "M201" not in codes(document(capsys, path("too_big"), "--ram", "64GB"))
    assert document(capsys, path("healthy"), "--here")["verdict"]["word"] in ("fits", "tight")


def test_a_microcontroller_brings_its_runtime(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, path("deadly"), "--device", "raspberry-pi-pico", code=1)
    assert "O301" in codes(found)  # another error than that it does not fit
    fits = document(capsys, path("healthy_int8"), "--device", "raspberry-pi-pico")
    assert fits["verdict"]["accelerator"] == "tflm"


def test_a_broken_file_beside_one_too_big_ends_with_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (path("too_big"), half(folder), "--ram", "1MB")
    found = document(capsys, *words, code=1)
    assert [row["kind"] for row in found["files"]] == ["check", "check"]
    assert codes(found["files"][1]) == ["F110"]


def test_several_files_are_one_table_and_their_findings_with_v(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", path("healthy_int8"), path("wasteful"), half(folder), "-v"]) == 1
    said = capsys.readouterr().out
    heads = [line.split() for line in said.splitlines()]
    assert ["file", "worst", "size", "errors", "notes", "first"] in heads  # nobody has warnings
    assert said.count("healthy_int8.tflite") == 1  # only in the table: there is nothing to tell
    assert "error[F110]" in said
    assert "note[M101]" in said


@pytest.mark.parametrize(
    "words", [["--select", "M1"], ["--select", "m101,M102"], ["--select", "duplicate-buffers"]]
)
def test_only_what_is_selected_is_told(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = codes(document(capsys, path("wasteful"), *words))
    assert "M101" in found
    assert all(code.startswith("M1") for code in found)


def test_what_is_ignored_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    before = codes(document(capsys, path("wasteful")))
    after = codes(document(capsys, path("wasteful"), "--ignore", "M10", "--ignore", "I"))
    assert "M101" in before
    assert after == [code for code in before if not code.startswith(("M10", "I"))]
    assert "M101" not in codes(
        document(capsys, path("wasteful"), "--select", "M", "--ignore", "duplicate-buffers")
    )


def test_a_broken_file_is_told_whatever_is_selected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert codes(document(capsys, half(folder), "--select", "M", code=1)) == ["F110"]
    assert codes(document(capsys, half(folder), "--ignore", "F110")) == []


def test_strict_counts_warnings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(save(folder, small()))
    np.savez(folder / "x.npz", image=np.zeros((1, 4, 4, 3), np.int8))
    words = (model, "--inputs", "x.npz", "--select", "I")
    assert codes(document(capsys, *words)) == ["I307"]
    assert codes(document(capsys, *words, "--strict", code=1)) == ["I307"]
    assert main(["check", path("wasteful"), "--select", "M101", "--strict"]) == 0  # a note is no warning


def test_values_are_judged_by_name_and_as_the_only_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(save(folder, lookup()))
    np.save(folder / "tokens.npy", np.array([[0, 1, 2, 99]], np.int32))
    found = document(capsys, model, "--inputs", "tokens=tokens.npy", "--select", "I", code=1)
    assert codes(found) == ["I308"]
    assert found["findings"][0]["op"] == {"subgraph": 0, "index": 1, "type": "GATHER"}
    assert found["findings"][0]["cause"] == "data-dependent-index"
    assert not {item["code"] for item in found["not_checked"]} & {"I203", "I204", "I308"}
    assert codes(document(capsys, model, "--inputs", "tokens.npy", "--select", "I", code=1)) == ["I308"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.zeros((1, 3, 64, 64), np.float32), ["I202", "I307"]),
        (np.zeros((64, 64, 3), np.float32), ["I201", "I307"]),
        (np.zeros((1, 64, 64, 4), np.float32), ["I203", "I307"]),
        (np.arange(64 * 64 * 3, dtype=np.uint8).reshape(1, 64, 64, 3), ["I204"]),
        (np.linspace(-1, 1, 64 * 64 * 3, dtype=">f4").reshape(1, 64, 64, 3), ["I205"]),
        (np.linspace(-1, 1, 4 * 64 * 64 * 3, dtype=np.float32).reshape(4, 64, 64, 3), []),  # ?x64x64x3
    ],
)
def test_shape_layout_and_type_are_held_against_the_model(value: Any, told: list[str]) -> None:
    found = [
        finding.code for finding in outlive.check(path("healthy"), inputs={"image": value}, select=["I"])
    ]
    assert found == told


def test_the_verb_takes_what_the_command_takes() -> None:
    found = outlive.check(path("too_big"), ram="64MB", accelerator="builtin", ignore=["M1"])
    assert [finding.code for finding in found] == ["M201", "M204"]
    assert "M201" in [finding.code for finding in outlive.check(path("too_big"), ram=64_000_000)]
    assert outlive.check(path("healthy_int8"), device="raspberry-pi-pico").errors == ()
    with pytest.raises(ValueError, match="only one of ram"):
        outlive.check(path("healthy"), device="rp2040", ram="1MB")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--select", "M1O1"], "did you mean"),
        (["--select", "duplicate-bufers"], "did you mean duplicate-buffers"),
        (["--ignore", "qqqqqq"], "`outlive explain` lists them"),
        (["--device", "raspbery-pi-pico"], "did you mean raspberry-pi-pico"),
        (["--ram", "lots"], "is not a size"),
        (["--ram", "0"], "ram must be larger than 0 bytes"),
        (["--device", "rp2040", "--accelerator", "builtin"], "runs TensorFlow Lite Micro"),
        (["--inputs", "nowhere.npz"], "No such file"),
        (["--inputs", "zeros"], "holds no values"),
        (["--inputs", "imgae=x.npy"], "did you mean 'image'"),
        (["--inputs", "broken.npz"], "cannot read arrays"),
    ],
)
def test_bad_words_are_usage(
    words: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(folder / "x.npy", np.zeros(3))
    (folder / "broken.npz").write_bytes(b"PK\3\4 and nothing else")
    assert main(["check", path("healthy"), *words]) == 2
    output = capsys.readouterr()
    assert said in output.err
    assert output.out == ""


def test_the_output_never_takes_the_place_of_a_model(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = save(folder, write(small()))
    assert main(["check", str(model), "--output", str(model)]) == 2
    assert "would overwrite the model" in capsys.readouterr().err


def test_sarif_and_annotations_go_to_a_file(folder: Path) -> None:
    assert main(["check", path("wasteful"), "--format", "sarif", "--output", "o.sarif"]) == 0
    assert json.loads((folder / "o.sarif").read_text())["version"] == "2.1.0"
    assert main(["check", path("wasteful"), "--format", "github", "--output", "o.txt"]) == 0
    lines = (folder / "o.txt").read_text().splitlines()
    assert lines
    assert all(line.startswith("::notice file=") for line in lines)
