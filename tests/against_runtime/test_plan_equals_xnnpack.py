"""The delegate takes what we say it takes, and models take the memory we say they take."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.plan_accuracy import LARGE_BYTES, MB, Row, compare
from outlive.arena.plan import Question
from outlive.arena.xnnpack.partition import delegate
from outlive.arena.xnnpack.planning import plan_xnnpack
from outlive.model import read_source
from tests.arena.xnnpack_sketches import varieties
from tools.build_large_models import recipes

PROBE = Path(__file__).parent / "xnnpack_probe.py"
# Enough to notice if most models were refused by the runtime and nothing were compared.
FEWEST_VARIETIES = 300
FEWEST_MODELS = 60
SHARE = 0.99
ARENA_SHARE = 0.95
GENERATED = (
    "mobilenet_96_float",
    "mobilenet_96_dynamic",
    "mobilenet_160_int8",
    "efficientnet_160_int8",
    "transformer_256_half",
    "transformer_256_dynamic",
    "unet_128_float",
)


def delegated(paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """What the delegate takes of each model; those that kill the runtime are left out."""
    waiting = list(paths)
    while waiting:
        with subprocess.Popen(
            [sys.executable, str(PROBE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as child:
            printed, _ = child.communicate("".join(f"{path}\n" for path in waiting))
        answers = [json.loads(line) for line in printed.splitlines()]
        yield from zip(waiting, answers, strict=False)
        waiting = waiting[len(answers) + 1 :]


def ours(path: Path) -> list[list[list[int]]]:
    """The runs we expect, as inputs and outputs of the node that stands for each."""
    model = read_source(path).model
    assert model is not None, path
    runs = delegate(model.subgraphs[0], {}).runs
    return [[list(run.inputs), list(run.outputs)] for run in runs if run.delegated]


def test_the_delegate_takes_what_we_say_in_all_varieties(tmp_path: Path) -> None:
    names = {}
    for index, (name, content) in enumerate(varieties()):
        path = tmp_path / f"{index}.tflite"
        path.write_bytes(content)
        names[path] = name
    answered = [(path, answer["runs"]) for path, answer in delegated(list(names)) if "runs" in answer]
    wrong = [names[path] for path, runs in answered if runs != ours(path)]
    assert len(answered) >= FEWEST_VARIETIES
    assert not wrong
    taken = sum(bool(runs) for _, runs in answered)
    assert 0.2 < taken / len(answered) < 0.8, "a test that all or none are taken would say little"


def test_the_delegate_takes_what_we_say_on_the_corpus(corpus_models: tuple[Path, ...]) -> None:
    answered = [(path, answer["runs"]) for path, answer in delegated(list(corpus_models)) if "runs" in answer]
    wrong = [path.name for path, runs in answered if runs != ours(path)]
    assert len(answered) >= FEWEST_MODELS
    assert len(wrong) <= (1 - SHARE) * len(answered), wrong


def test_what_stays_in_the_arena_lies_where_the_plan_says(corpus_models: tuple[Path, ...]) -> None:
    compared, wrong = 0, []
    for path, answer in delegated(list(corpus_models)):
        model = read_source(path).model
        plan = None if model is None or "places" not in answer else plan_xnnpack(model, Question())
        if plan is None or plan.refusals:
            continue
        real = {int(tensor): address for tensor, address in answer["places"].items()}
        rows = [row for row in plan.placements if row.tensor in real and not row.persistent]
        compared += 1
        if len({real[row.tensor] - row.offset_bytes for row in rows}) > 1:
            wrong.append(path.name)
    assert compared >= FEWEST_MODELS
    assert len(wrong) <= (1 - ARENA_SHARE) * compared, wrong


def close_enough(row: Row) -> bool:
    return abs(row.error) <= 0.1 if row.measured_bytes >= LARGE_BYTES else abs(row.error_bytes) <= MB


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_model_takes_what_was_planned(name: str, tmp_path: Path) -> None:
    recipe = next(recipe for recipe in recipes() if recipe.name == name)
    path = tmp_path / f"{name}.tflite"
    path.write_bytes(recipe.build())
    row = compare(path)
    assert row is not None, "the runtime refuses it"
    assert close_enough(row), row


def test_a_resized_model_takes_what_was_planned(tmp_path: Path) -> None:
    recipe = next(recipe for recipe in recipes() if recipe.name == "mobilenet_96_float")
    path = tmp_path / "mobilenet.tflite"
    path.write_bytes(recipe.build())
    usual, larger = compare(path), compare(path, (1, 224, 224, 3))
    assert usual is not None
    assert larger is not None
    assert close_enough(larger), larger
    assert larger.measured_bytes > usual.measured_bytes + MB


def test_corpus_models_take_what_was_planned(corpus_models: tuple[Path, ...]) -> None:
    rows = [row for row in map(compare, corpus_models) if row is not None]
    large = [row for row in rows if row.is_large]
    far = [row for row in large if not close_enough(row)]
    assert len(rows) >= FEWEST_MODELS
    assert len(far) <= 0.1 * len(large), far
    assert all(close_enough(row) for row in rows if not row.is_large), rows
