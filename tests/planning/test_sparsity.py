"""What zeros are worth: sizes are those of real files, memory is that of real runs."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.cli.main import main
from outlive.planning.file_read import Pruning, measure_sparsity
from outlive.surgery.trimmed import sparsify
from tests.surgery.test_sparse_weights import pruned


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pruned") / "pruned.tflite"
    path.write_bytes(pruned("healthy", 0.8))
    return path


@pytest.fixture(scope="module")
def measured(file: Path) -> Pruning:
    return measure_sparsity(outlive.read(file), measuring=True)


def test_sizes_are_those_of_files(file: Path, measured: Pruning) -> None:
    dense, sparse = measured.forms
    content = file.read_bytes()
    twin = sparsify(outlive.read(file)).data
    assert twin is not None
    assert (dense.file_bytes, sparse.file_bytes) == (len(content), len(twin))
    assert dense.compressed_bytes == len(zlib.compress(content, 6))
    assert sparse.file_bytes < 0.6 * dense.file_bytes
    assert 0.75 < measured.zeros / measured.elements < 0.85


def test_sparse_weights_take_no_less_memory(measured: Pruning) -> None:
    """The point of it all: the file shrinks, the memory does not."""
    dense, sparse = measured.forms
    assert not dense.problem
    assert not sparse.problem
    for way, before in dense.planned_peak_bytes.items():
        after = sparse.planned_peak_bytes[way]
        assert before is not None
        assert after is not None
        assert after > before, way
    assert dense.measured_peak_bytes is not None
    assert sparse.measured_peak_bytes is not None
    for way, before in dense.measured_peak_bytes.items():
        after = sparse.measured_peak_bytes[way]
        assert before is not None
        assert after is not None
        # Pages are counted: a few more or fewer are chance.
        assert after > before - 64 * 1024


def test_a_model_that_cannot_run_says_so(tmp_path: Path) -> None:
    found = measure_sparsity(outlive.read(demo_models.path("deadly")), measuring=True)
    assert found.forms[0].measured_peak_bytes == {"cpu": None, "builtin": None}
    assert "SIGSEGV" in found.forms[0].problem


def test_read_tells_it_in_words(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(file), "--sparsity"]) == 0
    said = capsys.readouterr().out
    assert "are zero" in said
    assert "sparse weights" in said
    assert "larger: LiteRT unpacks them" in said
    assert main(["read", str(demo_models.path("healthy")), "--sparsity"]) == 0
    assert "sparse storage makes no weight" in capsys.readouterr().out


def test_read_tells_it_as_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(file), "--sparsity", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "read"
    forms = found["sparsity"]["forms"]
    assert [form["name"] for form in forms] == ["as it is", "sparse weights"]
    assert forms[0]["measured_peak_bytes"] is None
    assert forms[0]["planned_peak_bytes"]["cpu"] > 0
    assert found["sparsity"]["weights"][0]["zeros"] > 0


def test_measure_alone_is_a_question_for_another_command(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(file), "--measure"]) == 2
    assert "--measure is for --sparsity" in capsys.readouterr().err
