"""`outlive run`: real models in real workers, as a user would run them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from outlive import demo_models
from outlive.cli.main import main


def path(name: str) -> str:
    return str(demo_models.path(name))


def test_a_healthy_model_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path("healthy"), "--repeat", "3", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "  runs\n" in shown
    for word in ("load", "allocate", "invoke 3", "free", "Peak", "probabilities  1x10"):
        assert word in shown


def test_a_deadly_model_is_told_and_we_live(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path("deadly")]) == 3
    shown = capsys.readouterr().out
    assert "crashed: SIGSEGV" in shown
    assert "error[O109]" in shown
    assert "LOCAL_RESPONSE_NORMALIZATION" in shown


def test_the_document_has_the_fields_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path("deadly"), "--format", "json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "outlive/1"
    assert document["kind"] == "run"
    assert document["died"] is True
    assert document["signal"] == "SIGSEGV"
    assert document["stage"] == "invoke"
    assert document["op"] == {"type": "LOCAL_RESPONSE_NORMALIZATION", "subgraph": 0, "index": 3}
    assert document["findings"][0]["code"] == "O109"
    for name in ("exit_code", "outputs", "peak_bytes", "timeline", "stderr_tail", "fault_trace", "limits"):
        assert name in document
    assert {"seconds", "bytes", "rss_bytes", "mark"} <= set(document["timeline"][0])


def test_outputs_are_saved_and_follow_the_seed(tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert main(["run", path("healthy"), "--seed", seed, "--save", str(tmp_path / f"{name}.npz")]) == 0
    first, same, other = (np.load(tmp_path / f"{name}.npz")["probabilities"] for name in "abc")
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_inputs_come_from_files(tmp_path: Path) -> None:
    value = np.zeros((1, 64, 64, 3), np.float32)
    np.save(tmp_path / "image.npy", value)
    np.savez(tmp_path / "all.npz", image=value)
    results = []
    for number, word in enumerate(
        (f"image={tmp_path}/image.npy", f"{tmp_path}/all.npz", "zeros", "image=zeros")
    ):
        out = tmp_path / f"{number}.npz"
        assert main(["run", path("healthy"), "--input", word, "--save", str(out)]) == 0
        results.append(np.load(out)["probabilities"])
    assert all(np.array_equal(results[0], result) for result in results[1:])


@pytest.mark.parametrize("kernels", ["cpu", "builtin", "reference"])
def test_every_kind_of_kernels_runs(kernels: str) -> None:
    assert main(["run", path("healthy_int8"), "--accelerator", kernels]) == 0


def test_a_limit_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path("too_big"), "--memory", "100MB", "--force", "-v"]) == 3
    said = capsys.readouterr().out
    assert "error[D502]: Memory limit exceeded: needs about 931 MB, the limit is 100 MB" in said
    assert "at operator 2 (CONV_2D): stem/conv 256 MiB" in said
    assert "run at 256x256: needs" in said


def test_what_cannot_fit_its_limit_is_not_started(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", path("too_big"), "--accelerator", "builtin", "--memory", "100MB", "-v"]
    assert main(words) == 4
    said = capsys.readouterr().out
    assert "the model's minimum: needs at least 818 MB, the limit is 100 MB" in said
    assert "run at 256x256: needs" in said
    assert main([*words, "--format", "json"]) == 4
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["started"], document["died"]) == ("run", False, False)
    assert document["findings"][0]["code"] == "M205"


def test_a_limit_that_is_enough_keeps_nothing_from_running() -> None:
    assert main(["run", path("healthy"), "--accelerator", "builtin", "--memory", "300MB"]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memory", "lots"], "is not a size"),
        (["--seconds", "-1"], "has passed already"),
        (["--repeat", "0"], "at least 1"),
        (["--input", "nonsense"], "is no input"),
        (["--input", "picture=zeros"], "no input is named 'picture'"),
        (["--input", "gone.npy"], "gone.npy"),
    ],
)
def test_wrong_words_are_usage(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path("healthy"), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_wrong_shape_is_refused_with_the_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "image.npy", np.zeros((64, 64, 3), np.float32))
    assert main(["run", path("healthy"), "--input", f"image={tmp_path}/image.npy"]) == 1
    said = capsys.readouterr().err
    assert "error[I201]" in said
    assert "np.expand_dims" in said


def test_a_file_that_is_no_model_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.tflite").write_text("this is no model")
    assert main(["run", str(tmp_path / "x.tflite")]) == 1
