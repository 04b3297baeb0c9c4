"""The kernels' temporaries as the formulas have them are those the runtime makes: count, size, place."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from outlive.kernels.litert.kernel import Slots
from outlive.kernels.litert.registry import KERNELS
from outlive.kernels.litert.view import PrepareView
from outlive.model import Model, read_source
from tests.against_runtime import (
    temporaries_home_models,
    temporaries_matrix_models,
    temporaries_recurrent_models,
)
from tests.against_runtime.temporaries_agreement import differences

PROBE = Path(__file__).parent / "temporaries_probe.py"
FAMILIES = {
    "matrices": temporaries_matrix_models,
    "recurrent": temporaries_recurrent_models,
    "homes": temporaries_home_models,
}
CASES = 5  # resolvers and threads, as the probe has them
TIMEOUT_S = 300


def ask(*models: Path) -> list[dict[str, Any]]:
    """What the runtime says of these models, as far as it gets."""
    command = [sys.executable, str(PROBE), *map(str, models)]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False)
    return [json.loads(line) for line in done.stdout.splitlines(keepends=True) if line.endswith(b"\n")]


def read(path: str | Path) -> Model:
    model = read_source(Path(path)).model
    assert model is not None
    return model


def told(answer: dict[str, Any], found: list[str]) -> str:
    return (
        f"{Path(answer['model']).name}, {answer['kernels']}, {answer['threads']} threads: {'; '.join(found)}"
    )


def disagreements(answers: list[dict[str, Any]]) -> Iterator[str]:
    """Each case in which formulas and runtime differ, in words."""
    allocated = [answer for answer in answers if "refused" not in answer]
    models = {path: read(path) for path in {answer["model"] for answer in allocated}}
    for answer in allocated:
        found = differences(models[answer["model"]], answer)
        if found:
            yield told(answer, found)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What the runtime says of the models made for this, by family."""
    answers = {}
    for family, source in FAMILIES.items():
        folder = tmp_path_factory.mktemp(family)
        paths = []
        for name, content in source.all_cases():
            paths.append(folder / f"{name}.tflite")
            paths[-1].write_bytes(content)
        answers[family] = ask(*paths)
        assert len(answers[family]) == CASES * len(paths), "the probe died on a model"
    return answers


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_models(generated: dict[str, list[dict[str, Any]]], family: str) -> None:
    answers = generated[family]
    refused = {Path(answer["model"]).stem.split("_", 1)[1] for answer in answers if "refused" in answer}
    # The reference resolver does not have this one; everything else must have been tried.
    assert all(name.startswith("SEGMENT_SUM") for name in refused)
    assert list(disagreements(answers)) == []


def test_a_wrong_formula_is_seen(
    generated: dict[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody checks the checker but this: a slot too many, one too large, one in the wrong arena."""
    kernel = KERNELS["CONV_2D"]
    right = kernel.temporaries
    assert right is not None

    def spoil(**change: Any) -> list[str]:
        def wrong(view: PrepareView) -> Slots:
            slots = right(view)
            changed = tuple(replace(slot, **change) for slot in slots.at_prepare[-1:])
            return replace(slots, at_prepare=(*slots.at_prepare[:-1], *changed))

        monkeypatch.setitem(KERNELS, "CONV_2D", replace(kernel, temporaries=wrong))
        return list(disagreements(generated["matrices"]))

    assert spoil() == []
    assert any("7 bytes, the runtime has" in words for words in spoil(size_bytes=7))
    assert any("lies within" in words or "span" in words for words in spoil(where="persistent"))
    assert any("the runtime has filled it" in words for words in spoil(where="none"))
    monkeypatch.setitem(KERNELS, "CONV_2D", replace(kernel, temporaries=lambda view: Slots()))
    assert any("0 slots, the runtime has" in words for words in disagreements(generated["matrices"]))


def test_corpus(corpus_models: tuple[Path, ...]) -> None:
    """Every corpus model that allocates, with both sets of kernels and several numbers of threads."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        answers = [answer for found in pool.map(ask, corpus_models) for answer in found]
    assert sum("refused" not in answer for answer in answers) >= 300
    assert list(disagreements(answers)) == []
