"""Every example notebook runs to its end in a real kernel, and shows what is committed with it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.deaths.restrictions import linux_only

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from run_examples import comparable

pytestmark = linux_only

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TOOL = EXAMPLES.parent / "tools" / "run_examples.py"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
# A thing that is shown as the dataclass it is has no card, or one that could not be drawn.
BARE = re.compile(r"(Model|Plan|Flight|Judgement|Finding|Diagnosis|Drift|Growth|Quantized|Coverage)\(")
# A folder of the machine that ran it.
FOLDER = re.compile(r"/(?:home|root|tmp|work|Users|usr|opt|var)/")
# What a notebook needs beside the package itself.
NEEDS = {"03": "ai_edge_quantizer", "04": "tensorflow", "07": "ai_edge_quantizer"}


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem[:2])
def test_a_notebook_runs_to_its_end_and_shows_what_is_committed(path: Path, tmp_path: Path) -> None:
    needed = NEEDS.get(path.stem[:2], "outlive")
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{path.name} needs the package {needed}")
    done = subprocess.run(
        [sys.executable, str(TOOL), path.stem[:2], "--out", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    again = comparable(read(tmp_path / path.name))
    assert again == comparable(read(path)), "what cells show has changed: tools/run_examples.py"
    assert not [words for cell in again for words in cell if BARE.match(words)], "a result without a card"


def test_there_are_seven_with_outputs_and_without_folders_of_a_machine() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"0{number}" for number in range(1, 8)]
    for path in NOTEBOOKS:
        document = json.loads(path.read_text(encoding="utf-8"))
        assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
        ids = [cell["id"] for cell in document["cells"]]
        assert len(ids) == len(set(ids))
        outputs = [output for cell in document["cells"] for output in cell.get("outputs", ())]
        assert len(outputs) > 4
        assert not FOLDER.search(json.dumps(outputs)), FOLDER.search(json.dumps(outputs))
        # What fails on purpose is shown as a card, and never as silence.
        for cell in document["cells"]:
            if "raises-exception" in cell["metadata"].get("tags", ()):
                assert any("text/html" in output.get("data", {}) for output in cell["outputs"])


def test_the_model_of_an_example_can_be_built_again(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("example_models", EXAMPLES / "models" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (EXAMPLES / "models" / "keyword_spotter.tflite").read_bytes() == module.keyword_spotter()
    assert os.path.getsize(EXAMPLES / "models" / "keyword_spotter.tflite") < 100_000
