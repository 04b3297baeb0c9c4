"""Running the real TFLM: what it prints is read, and whatever keeps it from printing is told in words."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

from outlive.interpreter import tflm_benchmark as micro
from outlive.interpreter.tflm_benchmark import MicroMeasure, NotMeasured, measure_micro

TABLE = """Git SHA: 18b9e6f2a8c5a9518e588f59c2ba16ef7ef9d551
--------------------
[[ Table ]]: Arena
        Arena   Bytes   % Arena
        Total |  3432 |   100.00
NonPersistent |  1024 |    29.84
   Persistent |  2408 |    70.16
"""


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder first in every search: nothing in it yet, and neither mcufit nor node elsewhere."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "mcufit", raising=False)
    importlib.invalidate_caches()
    return tmp_path


def install_mcufit(stage: Path) -> None:
    (stage / "mcufit" / "wasm").mkdir(parents=True)
    (stage / "mcufit" / "__init__.py").write_text("raise ImportError('never imported here')\n")
    (stage / "mcufit" / "wasm" / "run_benchmark.mjs").write_text("")
    importlib.invalidate_caches()


def install_node(stage: Path, body: str) -> None:
    """A node that runs a program of ours; its arguments are the script and the model."""
    program = stage / "node"
    program.write_text(f"#!{os.path.realpath(sys.executable)} -S\nimport sys, time\n{body}\n")
    program.chmod(0o755)


def play(stage: Path, body: str, **more: float) -> MicroMeasure | NotMeasured:
    """What comes of a node that behaves like this."""
    install_mcufit(stage)
    install_node(stage, body)
    return measure_micro(b"a model", **more)


def test_the_table_is_read(stage: Path) -> None:
    answer = play(stage, f"print({TABLE!r})")
    assert isinstance(answer, MicroMeasure)
    assert (answer.arena_bytes, answer.persistent_bytes, answer.used_bytes) == (1024, 2408, 3432)
    assert answer.tflm_commit.startswith("18b9e6f2")
    assert answer.mcufit_version == ""  # a package without metadata


def test_the_model_arrives_whole_by_bytes_and_by_path(stage: Path) -> None:
    echo = f"open({str(stage / 'seen')!r}, 'wb').write(open(sys.argv[2], 'rb').read())"
    play(stage, echo)
    assert (stage / "seen").read_bytes() == b"a model"
    (stage / "another model.tflite").write_bytes(b"another")
    measure_micro(stage / "another model.tflite")
    assert (stage / "seen").read_bytes() == b"another"


def test_without_mcufit_the_command_that_brings_it_is_told(stage: Path) -> None:
    install_node(stage, "")
    answer = measure_micro(b"a model")
    assert isinstance(answer, NotMeasured)
    assert "mcufit" in answer.reason
    assert answer.remedy == "pip install 'outlive[tflm]'"


def test_without_node_the_command_that_brings_it_is_told(
    stage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_mcufit(stage)
    monkeypatch.setattr(micro, "_packaged_node", lambda: None)
    answer = measure_micro(b"a model")
    assert isinstance(answer, NotMeasured)
    assert "Node.js" in answer.reason
    assert answer.remedy == "pip install 'outlive[tflm]'"


def test_what_tflm_says_is_the_reason(stage: Path) -> None:
    said = "---\\n--------------------\\nDidn't find op for builtin opcode 'ATAN2'\\nAllocateTensors failed"
    answer = play(stage, f'print("{said}")')
    assert isinstance(answer, NotMeasured)
    assert answer.reason.endswith("Didn't find op for builtin opcode 'ATAN2'; AllocateTensors failed")


@pytest.mark.parametrize("body", ["", "sys.exit(3)", "import os; os.abort()", "print('NonPersistent | x')"])
def test_no_figure_is_no_measurement(stage: Path, body: str) -> None:
    answer = play(stage, body)
    assert isinstance(answer, NotMeasured)
    assert answer.reason.startswith("TFLM in wasm32 gave no figure")


def test_a_run_without_end_is_ended(stage: Path) -> None:
    answer = play(stage, "time.sleep(600)", deadline_s=0.5)
    assert answer == NotMeasured(reason="TFLM did not finish within 0.5 s")


def test_a_flood_of_words_costs_no_memory_and_hides_no_table(stage: Path) -> None:
    answer = play(stage, f"print('x' * 30_000_000)\nprint({TABLE!r})")
    assert isinstance(answer, MicroMeasure)
    assert answer.arena_bytes == 1024


def test_a_node_that_cannot_be_started_is_told(stage: Path) -> None:
    install_mcufit(stage)
    (stage / "node").write_text("#!/nowhere/at/all\n")
    (stage / "node").chmod(0o755)
    answer = measure_micro(b"a model")
    assert isinstance(answer, NotMeasured)
    assert "could not be started" in answer.reason


def test_a_path_that_is_no_file_is_told(stage: Path) -> None:
    install_mcufit(stage)
    install_node(stage, "")
    assert measure_micro(stage / "nothing") == NotMeasured(reason=f"{stage / 'nothing'} is not a file")
