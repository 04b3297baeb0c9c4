"""Every example notebook runs to its end in a real kernel; cells that are to fail do fail, and no others."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.deaths.restrictions import linux_only
from tests.jupyter.kernel import started

pytestmark = linux_only

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
# A thing that is shown as the dataclass it is has no card, or one that could not be drawn.
BARE = re.compile(r"(Model|Plan|Flight|Judgement|Finding|Diagnosis|Drift|Growth|Quantized|Coverage)\(")
# What a notebook needs beside the package itself.
NEEDS = {"03": "ai_edge_quantizer", "04": "tensorflow", "07": "ai_edge_quantizer"}


def code_cells(path: Path) -> list[tuple[str, bool]]:
    """Each code cell, and whether it is to fail."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [
        ("".join(cell["source"]), "raises-exception" in cell["metadata"].get("tags", ()))
        for cell in document["cells"]
        if cell["cell_type"] == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem[:2])
def test_a_notebook_runs_to_its_end(path: Path, tmp_path: Path) -> None:
    needed = NEEDS.get(path.stem[:2], "outlive")
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{path.name} needs the package {needed}")
    shutil.copytree(EXAMPLES / "models", tmp_path / "models")
    with started(OUTLIVE_BLACKBOX_DIR=str(tmp_path / "box")) as kernel:
        assert not kernel.run(f"import os; os.chdir({str(tmp_path)!r})", counted=False).error
        for source, is_to_fail in code_cells(path):
            cell = kernel.run(source)
            assert bool(cell.error) == is_to_fail, f"{source}\n\n{cell.error}\n{cell.text}\n{cell.plain()}"
            assert not BARE.match(cell.plain()), f"no card for {source}"
            # What fails on purpose is shown as a card or as an exception with its words, never as silence.
            assert not is_to_fail or cell.html() or cell.text
        assert kernel.run("os.getpid()").plain() == str(kernel.pid)


def test_there_are_seven_and_they_are_clean() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"0{number}" for number in range(1, 8)]
    for path in NOTEBOOKS:
        document = json.loads(path.read_text(encoding="utf-8"))
        assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
        ids = [cell["id"] for cell in document["cells"]]
        assert len(ids) == len(set(ids))
        assert all(not cell.get("outputs") for cell in document["cells"])


def test_the_model_of_an_example_can_be_built_again(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("example_models", EXAMPLES / "models" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (EXAMPLES / "models" / "keyword_spotter.tflite").read_bytes() == module.keyword_spotter()
    assert os.path.getsize(EXAMPLES / "models" / "keyword_spotter.tflite") < 100_000
