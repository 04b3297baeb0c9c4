"""`outlive export` and `outlive snippet` from the outside: files, words, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from outlive import demo_models
from outlive.cli.main import main
from outlive.exporting.micro import FILES
from outlive.rendering.media.json import SCHEMA
from outlive.surgery import write
from tests.interpreter.dropin_models import MODELS
from tests.model.small import tensor, tree

HEALTHY = str(demo_models.path("healthy_int8"))


def test_export_writes_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "firmware" / "model"
    assert main(["export", HEALTHY, "-o", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert "kArenaBytes" in capsys.readouterr().out
    assert main(["export", HEALTHY, "--tflm", "-o", str(folder)]) == 2
    assert "has model_data.h" in capsys.readouterr().err
    assert main(["export", HEALTHY, "-o", str(folder), "--force"]) == 0


def test_export_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", HEALTHY, "-o", str(tmp_path), "--device", "raspberry-pi-pico"]
    assert main([*words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["kind"]) == (SCHEMA, "export")
    assert found["arena_bytes"] == found["planned_bytes"] + found["margin_bytes"]
    assert found["verdict"] == "fits"
    assert {row["function"] for row in found["operators"]} >= {"AddConv2D", "AddSoftmax"}


def test_export_leaves_waste_out_if_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wasteful = str(demo_models.path("wasteful"))
    sizes = []
    for options in ([], ["--trim"]):
        words = ["export", wasteful, "-o", str(tmp_path), "--force", "--format", "json", *options]
        assert main(words) == 0
        found = json.loads(capsys.readouterr().out)
        sizes.append(found["model_bytes"])
        assert bool(found["removed"]) == bool(options)
    assert sizes[1] < sizes[0]


def test_nothing_is_written_for_a_device_that_is_too_small(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    words = ["export", str(demo_models.path("healthy")), "--tflm", "--device", "arduino-uno-r4-minima"]
    assert main([*words, "-o", str(folder)]) == 4
    said = capsys.readouterr()
    assert "M201" in said.out
    assert "no file was written" in said.err
    assert not folder.exists()
    assert main([*words, "-o", str(folder), "--format", "json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == []
    assert "M201" in {row["code"] for row in found["findings"]}


def test_an_operator_that_micro_lacks_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(MODELS["ranged"]())
    assert main(["export", str(path), "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().out
    assert "O301" in said
    assert "RANGE" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "out", "--target", "tflite"], "unknown value 'tflite'; choose from tflm"),
        (["-o", "out", "--device", "nowhere"], "unknown device 'nowhere'"),
        (["-o", "out", "--device", "pixel-8"], "does not run TensorFlow Lite Micro"),
        (["-o", "out", "--margin", "some"], "is not a size"),
        (["-o", "out", "--margin=-1%"], "is no margin"),
        (["-o", "out", "--name", "int"], "cannot be the name of a namespace"),
        (["-o", "a_file"], "is no folder"),
        ([], "missing -o/--output"),
        (["-o", "out", "--abi", "z80"], "--abi: unknown value 'z80'; choose from cortex-m, "),
    ],
)
def test_wrong_words_say_what_to_do(
    options: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a_file").touch()
    assert main(["export", HEALTHY, *options]) == 2
    assert words in capsys.readouterr().err
    assert not Path("out").exists()


def test_the_margin_has_to_fit_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device = tmp_path / "small.toml"
    device.write_text(
        'name = "small"\nruntime = "tflm"\nram_bytes = 72000\nflash_bytes = 100000\ndocument = "made up"\n'
    )
    words = ["export", HEALTHY, "--tflm", "--device", str(device), "-o", str(tmp_path / "out")]
    assert main(words) == 2
    assert "not with its margin" in capsys.readouterr().err
    assert main([*words, "--margin", "0%"]) == 0


def test_an_arena_that_no_bank_holds_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device = tmp_path / "banks.toml"
    device.write_text(
        'name = "banks"\nruntime = "tflm"\nram_bytes = 500000\nlargest_block_bytes = 72000\n'
        'flash_bytes = 100000\ndocument = "made up"\n'
    )
    words = ["export", HEALTHY, "--tflm", "--device", str(device), "-o", str(tmp_path / "out")]
    assert main(words) == 4
    assert "the largest memory bank has 72,000" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert main([*words, "--margin", "0%"]) == 0


def test_a_full_folder_is_left_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.cc").mkdir()
    (tmp_path / "main.cc" / "mine").touch()
    assert main(["export", HEALTHY, "-o", str(tmp_path), "--force"]) == 2
    assert f"cannot write {tmp_path / 'main.cc'}: Is a directory" in capsys.readouterr().err
    assert not list(tmp_path.glob(".*"))


def test_broken_files_are_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.tflite"
    path.write_bytes(demo_models.path("healthy").read_bytes()[:3000])
    assert main(["export", str(path), "-o", str(tmp_path / "out")]) == 1
    assert main(["snippet", str(path)]) == 1
    assert capsys.readouterr().err.count("error[F1") == 2


def test_snippet_prints_code_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["snippet", HEALTHY]) == 0
    compile(capsys.readouterr().out, "snippet.py", "exec")
    assert main(["snippet", HEALTHY, "--lang", "c++"]) == 0
    assert "#include" in capsys.readouterr().out


def test_snippet_as_json_and_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["snippet", HEALTHY, "--lang", "java", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["kind"], found["language"]) == (SCHEMA, "snippet", "java")
    assert found["file_name"] == "HealthyInt8Model.java"
    assert found["inputs"][0]["scale"] > 0
    target = tmp_path / "run.c"
    assert main(["snippet", HEALTHY, "--lang", "c", "-o", str(target)]) == 0
    assert "TfLiteInterpreterInvoke" in target.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--lang", "cobol"], "unknown value 'cobol'"),
        (["--signature", "absent"], "unknown signature 'absent'"),
        (["--lang", "c", "--runtime", "outlive"], "--runtime is for Python"),
    ],
)
def test_wrong_words_for_a_snippet(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["snippet", HEALTHY, *options]) == 2
    assert words in capsys.readouterr().err


def test_types_no_program_can_feed_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.tflite"
    operator = {"opcode_index": 0, "inputs": [0], "outputs": [1]}
    path.write_bytes(
        write(tree([tensor("x", "RESOURCE", [1]), tensor("y", "FLOAT32", [1])], operators=[operator]))
    )
    assert main(["snippet", str(path)]) == 2
    assert "'x' is resource: no program can set or read that" in capsys.readouterr().err
