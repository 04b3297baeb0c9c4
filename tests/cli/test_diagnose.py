"""`outlive diagnose`: the verdict, the document, the bundle, and what it leaves behind."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from outlive import demo_models
from outlive.cli.main import main
from tests.cli.processes import COMMAND, environment
from tests.deaths import models, scenes


def path(name: str) -> str:
    return str(demo_models.path(name))


def test_a_deadly_model_fits_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", path("deadly")]) == 3
    shown = capsys.readouterr().out
    for words in (
        "crashes: SIGSEGV in invoke",
        "at operator 3, LOCAL_RESPONSE_NORMALIZATION",
        "Works with reference kernels",
        "--reduce small.tflite",
    ):
        assert words in shown
    assert len([line for line in shown.splitlines() if line.strip()]) <= 25
    assert main(["diagnose", path("deadly"), "-v"]) == 3
    assert "Trials, each in a separate process" in capsys.readouterr().out


def test_the_document_has_the_fields_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", path("deadly"), "--format", "json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"]) == ("outlive/1", "diagnose")
    assert document["stage"] == "invoke"
    assert document["signal"] == "SIGSEGV"
    assert document["op"] == {"subgraph": 0, "index": 3, "type": "LOCAL_RESPONSE_NORMALIZATION"}
    assert document["verdict"]["cause"] == document["cause"]
    assert document["works_with"] == ["reference kernels"]
    assert document["reproducer"] is None
    assert document["flights"][0]["name"] == "as it is"
    assert document["flights"][0]["died"] is True


def test_a_healthy_model_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", path("healthy"), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["cause"], document["verdict"], document["op"]) == (None, None, None)
    assert "as it is" in document["works_with"]


def test_inputs_come_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deadly = tmp_path / "dividing.tflite"
    deadly.write_bytes(models.dividing())
    np.savez(tmp_path / "in.npz", a=np.array([models.LEAST], np.int64), b=np.array([-1], np.int64))
    words = ["diagnose", str(deadly), "--inputs", str(tmp_path / "in.npz"), "--format", "json"]
    assert main(words) == 3
    assert json.loads(capsys.readouterr().out)["cause"] == "int-min-divided-by-minus-one"


@pytest.mark.parametrize("weights", [False, True])
def test_a_bundle_holds_weights_only_if_asked(
    tmp_path: Path, weights: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, small = tmp_path / "b.zip", tmp_path / "small.tflite"
    words = ["diagnose", path("deadly"), "--bundle", str(bundle), "--reduce", str(small)]
    assert main([*words, "--with-weights"] if weights else words) == 3
    assert "Reproducer" in capsys.readouterr().out
    with zipfile.ZipFile(bundle) as archive:
        names = set(archive.namelist())
        told = json.loads(archive.read("diagnosis.json"))
        versions = json.loads(archive.read("versions.json"))
    assert told["reproducer"]["ops"] == [3]
    assert versions["packages"]["ai-edge-litert"]
    assert {"diagnosis.json", "versions.json", "findings.txt", "repro.py"} <= names
    assert {name for name in names if name.endswith(".tflite")} == (
        {"model/deadly.tflite", "small.tflite"} if weights else set()
    )


def test_the_model_itself_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "m.tflite"
    copy.write_bytes(demo_models.path("deadly").read_bytes())
    assert main(["diagnose", str(copy), "--reduce", str(copy)]) == 2
    assert "overwrite the model" in capsys.readouterr().err


def test_usage_errors_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", path("healthy"), "--memory", "much"]) == 2
    assert main(["diagnose", str(tmp_path / "none.tflite")]) == 1
    assert "F101" in capsys.readouterr().out


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    endless = tmp_path / "endless.tflite"
    endless.write_bytes(models.endless())
    words = [*COMMAND, "diagnose", str(endless), "--seconds", "100000"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    family: set[int] = set()
    while len(family) < 2 and process.poll() is None:  # the maker of workers, and the worker
        time.sleep(0.05)
        family = scenes.children(process.pid)
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130
    assert len(family) >= 2
    assert scenes.wait_for_death(family) == set()
