"""GitHub annotations: one line each, whatever a model is called."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive import demo_models
from outlive.model import Source, read_source
from outlive.rendering.media.github import workflow_commands
from outlive.surgery import write
from outlive.verbs.checking import check_reading, make_criteria
from tests.rules.feeds import small


def lines(folder: Path, source: Source, inputs: object = None, select: tuple[str, ...] = ()) -> list[str]:
    order = make_criteria(inputs=inputs, select=select)
    return list(workflow_commands([check_reading(read_source(source), order)], folder))


def test_each_severity_has_its_command(tmp_path: Path) -> None:
    zeros = np.zeros((1, 4, 4, 3), np.float32)
    found = lines(tmp_path, write(small()), {"image": zeros}, ("I",))
    assert [line.split()[0] for line in found] == ["::error", "::warning"]
    assert lines(tmp_path, demo_models.path("wasteful"), select=("M101",))[0].startswith("::notice ")


def test_the_file_is_told_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / "half.tflite"
    path.write_bytes(demo_models.path("healthy").read_bytes()[:20_000])
    (line,) = lines(tmp_path, path)
    assert line.startswith("::error file=models/half.tflite,title=F110 file-ends-early::error[F110]")
    (line,) = lines(tmp_path / "elsewhere", path)
    assert f"file={path}," in line


def test_what_would_end_a_command_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "a,b:c%d.tflite"
    path.write_bytes(b"\0" * 20)
    (line,) = lines(tmp_path, path)
    assert line.startswith("::error file=a%2Cb%3Ac%25d.tflite,title=")
    tree = small()
    tree["subgraphs"][0]["tensors"][0]["name"] = "x\n::error::100%\r"
    zeros = np.zeros((1, 4, 4, 3), np.float32)
    for line in lines(tmp_path, write(tree), [zeros], ("I",)):
        assert "\n" not in line
        assert "\r" not in line
        assert "100%25" in line


def test_a_model_of_bytes_has_no_file(tmp_path: Path) -> None:
    (line,) = lines(tmp_path, b"\0" * 20)
    assert line.startswith("::error title=F109")
