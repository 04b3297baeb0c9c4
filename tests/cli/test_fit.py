"""`outlive fit`: what it prints, writes and ends with."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outlive import demo_models
from outlive.cli.main import main
from outlive.model import read_source
from outlive.surgery import tree_of, write

HEALTHY = str(demo_models.path("healthy"))
# No pictures go in, so that there are fewer candidates.
SPOTTER = str(Path(__file__).resolve().parents[2] / "examples" / "models" / "keyword_spotter.tflite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that all tests here share, and nobody else."""
    monkeypatch.setenv("OUTLIVE_CACHE", str(tmp_path_factory.getbasetemp() / "fit-cache"))


def document(text: str) -> Any:
    return json.loads(text)


def test_it_writes_the_model_the_document_and_a_program_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "made" / "small.tflite"
    assert main(["fit", HEALTHY, "--ram", "3MB", "--flash", "100KB", "-o", str(target)]) == 0
    told = capsys.readouterr().out
    assert "of the RAM limit" in told
    assert "indicative only" in told
    assert f"written: {target}" in told
    found = document((target.parent / "fit.json").read_text())
    assert (found["schema"], found["kind"]) == ("outlive/1", "fit")
    assert found["chosen"]["file_bytes"] == target.stat().st_size <= 100_000
    assert read_source(str(target)).model is not None
    done = subprocess.run(
        [sys.executable, str(target.parent / "load.py")], cwd="/", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "(1, " in done.stdout


def test_the_document_has_the_fields_that_others_rely_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", HEALTHY, "--ram", "1GB", "--format", "json"]) == 0
    found = document(capsys.readouterr().out)
    fields = {"recipe", "inputs", "peak_bytes", "measured_peak_bytes", "file_bytes", "milliseconds", "loss"}
    assert fields | {"verdict", "reason", "tag"} <= set(found["chosen"])
    assert all(set(row) == set(found["chosen"]) for row in found["candidates"])
    assert found["chosen"]["verdict"] == "fits"
    assert found["chosen"]["recipe"] == "none"
    assert found["chosen"]["inputs"] == [{"name": "image", "shape": [1, 64, 64, 3]}]
    assert found["budget"]["ram_bytes"] == 10**9


def test_nothing_fits_is_exit_code_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fit", SPOTTER, "--ram", "20KB", "-o", str(tmp_path / "small.tflite")]
    assert main(words) == 4
    told = capsys.readouterr().out
    assert "no candidate fits" in told
    assert "Smallest:" in told
    assert "Peak at operator" in told
    assert "No candidate can need less than" in told
    assert "Required changes" in told
    assert len(told.splitlines()) < 50
    assert not (tmp_path / "small.tflite").exists()
    found = document((tmp_path / "fit.json").read_text())
    assert found["chosen"] is None
    assert found["shortage"]["op"]["type"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ram", "lots"], "not a size"),
        (["--ram", "1MB", "--max-loss", "some"], "not a share"),
        (["--ram", "1MB", "--metric", "accuracy"], "file.py:function"),
        (["--ram", "1MB", "--samples", "nowhere"], "no samples"),
        (["--ram", "1MB", "--plot", "front.pdf"], ".svg or .png"),
        (["--ram", "1MB", "--input", "picture=1x32x32x3"], "no input is named"),
        (["--ram", "1MB", "--seconds", "-1"], "more than 0"),
        (["--device", "pico-of-mine"], "unknown device"),
        (["--ram", "1MB", "--device", "raspberry-pi-pico"], "cannot be combined with --ram"),
        ([], "required"),
    ],
)
def test_wrong_words_are_usage(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", HEALTHY, *words]) == 2
    assert said in capsys.readouterr().err


def test_files_that_are_no_models_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.tflite").write_bytes(b"<html>not found</html>")
    assert main(["fit", str(tmp_path / "broken.tflite"), "--ram", "1MB"]) == 1
    assert "error[F" in capsys.readouterr().err
    assert main(["fit", str(tmp_path / "absent.tflite"), "--ram", "1MB"]) in (1, 2)


def test_a_model_that_never_runs_is_no_matter_of_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tree_of(memoryview(Path(SPOTTER).read_bytes()))
    codes = [{**row, "builtin_code": "CUSTOM", "custom_code": "Mine"} for row in tree["operator_codes"][:1]]
    (tmp_path / "custom.tflite").write_bytes(
        write({**tree, "operator_codes": [*codes, *tree["operator_codes"][1:]]})
    )
    assert main(["fit", str(tmp_path / "custom.tflite"), "--ram", "1GB"]) == 1
    told = capsys.readouterr().out
    assert "does not run with any amount of memory" in told
    assert "Mine" in told
    assert main(["fit", str(demo_models.path("deadly")), "--ram", "1GB", "--accelerator", "builtin"]) == 3
    assert "outlive diagnose" in capsys.readouterr().out


def test_nothing_of_the_users_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "fit.json").write_text('{"kind": "something else"}')
    assert main(["fit", HEALTHY, "--ram", "1GB", "-o", str(tmp_path / "small.tflite")]) == 2
    assert "no search wrote it" in capsys.readouterr().err
    (tmp_path / "fit.json").unlink()
    (tmp_path / "load.py").write_text("print('mine')\n")
    assert main(["fit", HEALTHY, "--ram", "1GB", "-o", str(tmp_path / "small.tflite")]) == 2
    assert "load.py is there already" in capsys.readouterr().err
    assert (tmp_path / "load.py").read_text() == "print('mine')\n"
    own = tmp_path / "model" / "own.tflite"
    own.parent.mkdir()
    own.write_bytes(Path(HEALTHY).read_bytes())
    assert main(["fit", str(own), "--ram", "1GB", "-o", str(own)]) == 2
    assert "overwrite the model itself" in capsys.readouterr().err
    assert own.read_bytes() == Path(HEALTHY).read_bytes()


def test_where_nothing_can_be_written_is_told_before_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("the search was begun")

    monkeypatch.setattr("outlive.verbs.fit", never)
    (tmp_path / "file").touch()
    (tmp_path / "folder.tflite" / "model.tflite").mkdir(parents=True)
    for place in ("file/small.tflite", "file/more/small.tflite", "folder.tflite"):
        assert main(["fit", HEALTHY, "--ram", "1GB", "-o", str(tmp_path / place)]) == 2
        assert "cannot write" in capsys.readouterr().err


def test_what_was_found_is_shown_even_if_it_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "small.tflite"
    target.write_bytes(b"what was there")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        assert main(["fit", SPOTTER, "--ram", "1GB", "--accelerator", "builtin", "-o", str(target)]) == 2
    told = capsys.readouterr()
    assert "of the RAM limit" in told.out
    assert "No space left" in told.err
    assert target.read_bytes() == b"what was there"
    assert [path.name for path in tmp_path.iterdir()] == ["small.tflite"]


def test_the_command_for_a_microcontroller_gives_the_arena_that_was_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = str(demo_models.path("healthy_int8"))
    assert main(["fit", model, "--device", "nucleo-f446re", "-o", str(tmp_path)]) == 0
    text = (tmp_path / "load.py").read_text()
    [command] = [line.strip() for line in text.splitlines() if "outlive export" in line]
    assert "--device nucleo-f446re --abi cortex-m --kernels cmsis-nn" in command
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert main([*shlex.split(command)[1:], "--format", "json"]) == 0
    made = document(capsys.readouterr().out)
    assert f"ARENA_BYTES = {made['arena_bytes']} " in text
    assert made["arena_bytes"] == document((tmp_path / "fit.json").read_text())["chosen"]["arena_bytes"]


def test_all_candidates_samples_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sounds = np.random.default_rng(0).random((4, 49, 10, 1), np.float32)
    np.savez(tmp_path / "sounds.npz", mfcc=sounds)
    words = ["fit", SPOTTER, "--ram", "1GB", "--samples", str(tmp_path / "sounds.npz"), "--all"]
    words += ["--accelerator", "builtin", "--plot"]
    for name in ("front.svg", "front.png"):
        assert main([*words, str(tmp_path / name)]) == 0
        told = capsys.readouterr().out
        assert "static-int8" in told
        assert "●" in told
    picture = (tmp_path / "front.svg").read_text()
    assert picture.startswith("<svg")
    assert "budget" in picture
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_control_c_keeps_what_is_known(name: str, tmp_path: Path) -> None:
    program = (
        "import sys, threading, os, signal\n"
        "from outlive.fitting import evaluation\n"
        "from outlive.cli.main import main\n"
        "evaluate = evaluation.Evaluation.evaluate\n"
        "def counted(self, candidate, rank):\n"
        "    if rank == 3:\n"
        f"        os.kill(os.getpid(), signal.{name})\n"
        "    return evaluate(self, candidate, rank)\n"
        "evaluation.Evaluation.evaluate = counted\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    target = tmp_path / "small.tflite"
    words = ["fit", SPOTTER, "--ram", "1GB", "--all", "--jobs", "1", "-o", str(target)]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.returncode == 130, done.stderr
    assert "Interrupted before all candidates were tried" in done.stdout
    assert "3 candidates" in done.stdout
    assert target.exists()
    assert not list(tmp_path.glob("outlive-*")), "temporary files are removed"
