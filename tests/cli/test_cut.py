"""`outlive cut`: parts of real models, and clear words for what cannot be cut."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.cli.main import main
from tests.surgery import cut_models

HEALTHY = str(demo_models.path("healthy"))


def test_a_range_is_cut_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "part.tflite"
    assert main(["cut", HEALTHY, "--ops", "2:5", "-o", str(target)]) == 0
    shown = capsys.readouterr().out
    size = target.stat().st_size
    assert f"part.tflite  3 operators of 16, {size / 1024:.2f} KiB of 43.6 KiB" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["block1/depthwise", "1x32x32x16", "float32", "1", "6"] in rows
    assert ["block2/expand", "1x32x32x48", "float32", "8", "13"] in rows
    assert "  2 to 4\n  2 CONV_2D, 1 ADD" in shown
    assert "signature 'serving_default'" in shown
    assert [op.name for op in outlive.read(target).operators()] == ["CONV_2D", "ADD", "CONV_2D"]


@pytest.mark.parametrize(
    ("words", "ops"),
    [
        (["--ops", "5"], [5]),
        (["--ops", "3,7,9"], [3, 7, 9]),
        (["--until", "2"], [0, 1, 2]),
        (["--outputs", "stem/conv,#6"], [0, 1]),
        (["--outputs", "stem/conv", "--outputs", "block1/depthwise"], [0, 1]),
        (["--ops", "0:4", "--outputs", "stem/conv"], [0]),
        (["--ops", "0", "--make-input", "stem/conv/bias"], [0]),
    ],
)
def test_the_document_says_what_was_what(
    words: list[str], ops: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "part.tflite"
    assert main(["cut", HEALTHY, *words, "-o", str(target), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"]) == ("outlive/1", "cut")
    assert [op["original"] for op in document["ops"]] == ops
    assert document["model"]["path"] == HEALTHY
    assert document["part"]["file_bytes"] == target.stat().st_size
    assert document["part"]["sha256"] == outlive.read(target).sha256
    whole = outlive.read(HEALTHY).subgraphs[0].tensors
    for tensor in (*document["inputs"], *document["outputs"]):
        assert whole[tensor["original"]].name == tensor["name"]


def test_shapes_and_constants(tmp_path: Path) -> None:
    target, image = tmp_path / "part.tflite", tmp_path / "image.npy"
    assert main(["cut", HEALTHY, "--input-shape", "image=1x96x96x3", "-o", str(target)]) == 0
    assert outlive.read(target).inputs[0].shape == (1, 96, 96, 3)
    np.save(image, np.ones((1, 64, 64, 3), np.float32))
    assert main(["cut", HEALTHY, "--make-constant", f"image={image}", "-o", str(target)]) == 0
    assert outlive.read(target).inputs == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ops", "99"], "unknown operator 99; the model has 16 operators, 0 to 15"),
        (["--ops", "x"], "names no operators"),
        (["--outputs", "block2/expnd"], "did you mean 'block2/expand'"),
        (["--outputs", ","], "no output was chosen"),
        (["--outputs", "image"], "nothing is left"),
        (["--input-shape", "1x96x96x3"], "lacks a name or a value; write it as image=1x96x96x3"),
        (["--input-shape", "image=1xa"], "is not a shape"),
        (["--make-constant", "image=nowhere.npy"], "nowhere.npy"),
        (["--make-constant", f"image={__file__}"], "is not an array"),
        (["--make-input", "probabilities"], "nothing is left"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "part.tflite"
    assert main(["cut", HEALTHY, *words, "-o", str(target)]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("outlive cut: ")
    assert said in told.err
    assert told.out == ""
    assert list(tmp_path.iterdir()) == []


def test_the_model_itself_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, link = tmp_path / "model.tflite", tmp_path / "link.tflite"
    model.write_bytes(cut_models.branches())
    link.symlink_to(model)
    for target in (model, link):
        assert main(["cut", str(model), "--ops", "0", "-o", str(target)]) == 2
        assert "is the model itself" in capsys.readouterr().err
    assert model.read_bytes() == cut_models.branches()
    assert main(["cut", str(model), "--ops", "0", "-o", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err


def test_what_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cut", HEALTHY, "--ops", "0", "-o", str(tmp_path / "no" / "part.tflite")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_a_broken_file_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(cut_models.branches()[:600])
    assert main(["cut", str(broken), "--ops", "0", "-o", str(tmp_path / "part.tflite")]) == 1
    assert "error[F1" in capsys.readouterr().err
    assert main(["cut", str(tmp_path / "none.tflite"), "--ops", "0", "-o", str(tmp_path / "p.tflite")]) == 1
    assert "error[F101]" in capsys.readouterr().err


def test_names_of_strangers_cannot_write_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(cut_models.branches().replace(b"offset", b"\x1b[31m!"))
    words = ["cut", str(model), "--ops", "4", "--make-input", "#6", "-o", str(tmp_path / "part.tflite")]
    assert main(words) == 0
    assert main(["cut", str(model), "--outputs", "31m", "-o", str(tmp_path / "part.tflite")]) == 2
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
