"""Commands in advice are whole: pasted with the user's own file in them, they run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.cli.main import main
from outlive.diagnosis.autopsy import read_text
from outlive.diagnosis.messages import known_messages
from outlive.rules import load_rules
from tests.deaths.scenes import HEALTHY
from tests.diagnosis.test_log_samples import SAMPLES

# What may stand in a command: the names that stand for the user's own, options, and options with a value.
_FLAGS = "ops|graph|tensors|tflm"
_WORD = (
    rf"(?:[A-Z]+(?:\.tflite|\.npz)?|script\.py|-o [\w.]+|on\b|--(?:{_FLAGS})\b|"
    rf"--(?!(?:{_FLAGS})\b)[\w-]+ [\w.+=-]*[\w+])"
)
_VERBS = "|".join(sorted({*outlive.__all__, "exec", "notebook"} - {"Interpreter"}))
COMMAND = re.compile(rf"\boutlive (?:{_VERBS})\b(?: {_WORD})*")
# What the names stand for here.
FILES = {
    "FILE": "net.tflite",
    "MODEL": "net.tflite",
    "FLOAT.tflite": "net.tflite",
    "QUANTIZED.tflite": "int8.tflite",
}
VALUES = {
    "SAMPLES": "samples.npz",
    "DATA.npz": "samples.npz",
    "CORE": "run.log",
    "LOG": "run.log",
    "NAME": "jetson-nano",
    "NAME=SHAPE": "image=1x64x64x3",
    "x.npy": "x.npy",
    "sample.npy": "x.npy",
}
# Exit codes of a command that was understood: clean, findings, died, does not fit.
UNDERSTOOD = (0, 1, 3, 4)


def advice() -> Iterator[str]:
    """Every step that a log of ours, or a row of the tables, leads to."""
    for log in (*(sample["log"] for sample in SAMPLES), *(message.sample for message in known_messages())):
        yield from read_text(log).do
    for message in known_messages():
        yield from (*message.do, message.undo)


COMMANDS = sorted({found.group() for step in advice() for found in COMMAND.finditer(step)})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the names stand for."""
    folder = tmp_path_factory.mktemp("pasted")
    shutil.copy(HEALTHY, folder / "net.tflite")
    shutil.copy(outlive.demo_models.path("healthy_int8"), folder / "int8.tflite")
    image = np.random.default_rng(0).random((2, 64, 64, 3), np.float32)
    np.savez(folder / "samples.npz", image=image)
    np.save(folder / "x.npy", image[:1])
    (folder / "run.log").write_text("Segmentation fault (core dumped)\n")
    (folder / "script.py").write_text("import sys\nsys.exit(len(sys.argv) - 1)\n")
    return folder


def test_there_is_much_to_paste() -> None:
    assert len(COMMANDS) > 25
    assert any("--accelerator builtin" in line for line in COMMANDS)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_in_advice_runs(
    line: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = line.split()[1:]
    if words in (["notebook", "install"], ["notebook"], ["blackbox"]):
        pytest.skip("it changes the user's own Jupyter, or shows what died there")
    shutil.copytree(place, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    monkeypatch.setenv("OUTLIVE_BLACKBOX_DIR", str(tmp_path / "box"))
    given = [FILES.get(word) or VALUES.get(word, word) for word in words]
    assert main(given) in UNDERSTOOD, given
    if given[0] == "guard":
        # What stands behind the script's name is the script's, which counts it.
        assert main(given) == 0, "options of outlive come before the script"


def test_the_remedies_of_rules_name_verbs_that_exist() -> None:
    named = {word for rule in load_rules() for word in re.findall(r"`outlive ([a-z]+)", rule.doc or "")}
    assert named - {*outlive.__all__, "exec", "notebook", "help"} == set()
