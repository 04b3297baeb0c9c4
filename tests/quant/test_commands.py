"""The commands: what they print, write and end with."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outlive.cli.main import main
from tests.quant.networks import dense_float, dense_int8, samples, stretch, weights

MATRICES, GIVEN = weights(3, 64), samples(5, 64)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "float.tflite").write_bytes(dense_float(MATRICES))
    (tmp_path / "int8.tflite").write_bytes(dense_int8(MATRICES, GIVEN, stretch("w1", 3)))
    np.savez(tmp_path / "samples.npz", x=np.concatenate(GIVEN))
    names = {path.stem: str(path) for path in tmp_path.iterdir()}
    return {**names, "folder": str(tmp_path)}


def document(text: str) -> Any:
    return json.loads(text)


def test_compare_blames_the_layer_in_words(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", files["float"], files["int8"], "--samples", files["samples"], "-v"]) == 0
    told = capsys.readouterr().out
    lines = told.splitlines()
    (first,) = (number for number, line in enumerate(lines) if "Error added by each layer" in line)
    assert "layer1" in lines[first + 2]
    assert "Most error comes from operator 2, FULLY_CONNECTED" in told
    assert "warning[Q220]" in told
    assert "5 samples" in told


def test_compare_has_the_fields_that_others_rely_on(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", files["float"], files["int8"], "--samples", files["samples"], "--format", "json"]
    assert main(words) == 0
    found = document(capsys.readouterr().out)
    assert (found["schema"], found["kind"], found["samples"]) == ("outlive/1", "compare", 5)
    row = next(row for row in found["tensors"] if row["name"] == "layer1")
    assert {"name", "index", "op", "metrics", "born_here"} <= set(row)
    assert row["op"] == {"subgraph": 0, "index": 2, "type": "FULLY_CONNECTED"}
    expected = {"num_elements", "stddev", "mean_error", "max_abs_error", "mean_squared_error", "rmse/scale"}
    assert expected <= set(row["metrics"])
    assert expected <= set(row["born_here"])
    assert found["outputs"][0]["argmax_agreement"] is not None
    assert found["worst"][0] == row["index"]


def test_compare_writes_the_files_asked_for(files: dict[str, str], tmp_path: Path) -> None:
    more = {name: str(tmp_path / name) for name in ("layers.csv", "nodes.json", "picture.svg", "out.json")}
    words = ["compare", files["float"], files["int8"], "--samples", files["samples"], "--format", "json"]
    words += ["--csv", more["layers.csv"], "--node-data", more["nodes.json"], "--plot", more["picture.svg"]]
    assert main([*words, "--output", more["out.json"], "--layers", "1:4"]) == 0
    with open(more["layers.csv"], encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["tensor_name"] for row in rows] == ["layer0", "layer1", "layer2"]
    assert set(rows[0]) >= {"op_name", "tensor_idx", "num_elements", "stddev", "scale", "zero_point"}
    assert set(document(Path(more["nodes.json"]).read_text())["main"]["results"]) == {"1", "2", "3"}
    assert Path(more["picture.svg"]).read_text().startswith("<svg")
    assert len(document(Path(more["out.json"]).read_text())["tensors"]) == 3


def test_quantize_writes_a_model_and_says_what_became_of_it(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "small.tflite")
    words = [
        "quantize",
        files["float"],
        "-o",
        target,
        "--recipe",
        "static-int8",
        "--samples",
        files["samples"],
    ]
    assert main([*words, "--skip", "layer2", "--list"]) == 0
    told = capsys.readouterr().out
    assert "2 of 3 operators quantized" in told
    assert "skipped" in told
    assert main([*words, "--format", "json"]) == 0
    found = document(capsys.readouterr().out)
    assert found["kind"] == "quantize"
    assert [layer["how"] for layer in found["layers"]] == ["int8"] * 3
    assert found["output"]["file_bytes"] == Path(target).stat().st_size


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["compare", "{float}", "{int8}", "--samples", "nowhere.npz"], 2, "no samples at"),
        (["compare", "{float}", "{int8}", "--layers", "nothing"], 2, "no operator is called"),
        (["compare", "{float}", "{samples}"], 1, "error["),
        (["quantize", "{float}", "-o", "{folder}/o.tflite", "--recipe", "odd"], 2, "unknown recipe"),
        (["quantize", "{float}", "-o", "{folder}/o.tflite", "--recipe", "static-int8"], 1, "error[Q210]"),
        (["quantize", "{float}", "-o", "{float}"], 2, "would overwrite the model"),
    ],
)
def test_mistakes_end_with_their_code_and_words(
    words: list[str], code: int, told: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word.format(**files) for word in words]) == code
    assert told in capsys.readouterr().err
