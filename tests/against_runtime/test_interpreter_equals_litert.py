"""The drop-in gives what LiteRT gives, bit for bit, and says what it says, on every model that runs.

Where the two differ, LiteRT runs again with all fresh memory painted over: rows of an output that differ then
are rows that it never sets (unused detections), and are not compared.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.repetition import repeats, rounds

pytestmark = [repeats, pytest.mark.corpus, pytest.mark.timeout(900)]

PROBE = Path(__file__).parent / "interpreter_probe.py"
RESOLVERS = ("AUTO", "BUILTIN_REF", "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
PARTS = ("opened", "invoke", "call")
# Every model with the kernels that people use; with the others every third, and all in `make soak`.
EVERY = {resolver: 1 if resolver == "AUTO" else rounds(3, soak=1) for resolver in RESOLVERS}
PAINTED = {**os.environ, "MALLOC_PERTURB_": "85"}

Seen = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Answers:
    """What each side said of each model, in files; `painted` holds only models on which the sides differ."""

    models: list[Path]
    litert: Path
    outlive: Path
    painted: Path


def load(folder: Path, model: Path) -> Seen:
    seen: Seen = pickle.loads((folder / f"{model.name}.pickle").read_bytes())
    return seen


def ask(module: str, resolver: str, folder: Path, models: list[Path], environment: Any = None) -> None:
    command = [sys.executable, str(PROBE), module, resolver, str(folder), *map(str, models)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, f"{module} {resolver}: {ended.stderr[-1000:]}"


@pytest.fixture(scope="module")
def runnable(corpus_models: tuple[Path, ...], corpus_manifest: dict[str, dict[str, Any]]) -> list[Path]:
    return [path for path in corpus_models if corpus_manifest[path.name]["outcome"] == "ok"]


@pytest.fixture(scope="module", params=RESOLVERS)
def answers(
    request: pytest.FixtureRequest, runnable: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Answers:
    """Both sides at once, one process each; then LiteRT's second opinion where they differ."""
    models = runnable[:: EVERY[request.param]]
    found = Answers(models, *(tmp_path_factory.mktemp(side) for side in ("litert", "outlive", "painted")))
    sides = ("ai_edge_litert.interpreter", found.litert), ("outlive", found.outlive)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda side: ask(side[0], request.param, side[1], models), sides))
    disputed = [path for path in models if _disputed(found, path)]
    if disputed:
        ask("ai_edge_litert.interpreter", request.param, found.painted, disputed, PAINTED)
    return found


def _disputed(answers: Answers, model: Path) -> bool:
    theirs = load(answers.litert, model)
    return bool(differences(load(answers.outlive, model), theirs, theirs))


def differences(ours: Any, theirs: Any, painted: Any, where: str = "") -> list[str]:
    """Where two answers differ, types included; `painted` is the second opinion on what is reproducible."""
    if type(ours) is not type(theirs):
        return [f"{where}: {type(ours).__name__} for {type(theirs).__name__}"]
    if isinstance(theirs, np.ndarray):
        return _array_differences(ours, theirs, painted, where)
    if isinstance(theirs, dict):
        if list(ours) != list(theirs):
            return [f"{where}: {list(ours)} for {list(theirs)}"]
        return [
            line
            for key in theirs
            for line in differences(ours[key], theirs[key], painted[key], f"{where}/{key}")
        ]
    if isinstance(theirs, (list, tuple)):
        if len(ours) != len(theirs):
            return [f"{where}: {len(ours)} items for {len(theirs)}"]
        triples = zip(ours, theirs, painted, strict=True)
        return [line for n, three in enumerate(triples) for line in differences(*three, f"{where}/{n}")]
    same = ours == theirs or (ours != ours and theirs != theirs)
    return [] if same else [f"{where}: {ours!r} for {theirs!r}"]


def _array_differences(ours: Any, theirs: Any, painted: Any, where: str) -> list[str]:
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return [f"{where}: {ours.dtype}{ours.shape} for {theirs.dtype}{theirs.shape}"]
    if theirs.dtype == object:
        return [] if ours.tolist() == theirs.tolist() else [f"{where}: {ours} for {theirs}"]
    a, b, c = (
        np.frombuffer(x.tobytes(), np.uint8).reshape(x.size, x.itemsize) for x in (ours, theirs, painted)
    )
    settled = (b == c).all(axis=1)
    wrong = int(((a != b).any(axis=1) & settled).sum())
    return [f"{where}: {wrong} of {theirs.size} values"] if wrong else []


@pytest.mark.parametrize("part", PARTS)
def test_the_drop_in_answers_as_litert(part: str, answers: Answers) -> None:
    wrong = []
    for model in answers.models:
        ours, theirs = load(answers.outlive, model)[part], load(answers.litert, model)[part]
        second = (answers.painted / f"{model.name}.pickle").exists()
        painted = load(answers.painted, model)[part] if second else theirs
        wrong += differences(ours, theirs, painted, where=model.name)
    assert not wrong, "\n".join(wrong[:40])


def test_all_models_were_compared_and_ran(runnable: list[Path], answers: Answers) -> None:
    assert len(runnable) >= 71
    asked = len(answers.models) / len(runnable)
    seen = {model: (load(answers.outlive, model), load(answers.litert, model)) for model in answers.models}
    refused = [
        (model.name, part, ours[part]["raised"])
        for model, (ours, theirs) in seen.items()
        for part in PARTS
        if "raised" in ours[part] and "raised" not in theirs[part]
    ]
    assert not refused
    invoked = sum("raised" not in theirs["invoke"] for _, theirs in seen.values())
    called = sum(bool(theirs["call"]) and "raised" not in theirs["call"] for _, theirs in seen.values())
    assert invoked >= 65 * asked
    assert called >= 10 * asked


def test_the_second_opinion_does_not_excuse_much(answers: Answers) -> None:
    """Only a few models, those with unused detections, have values that LiteRT never sets."""
    asked = sorted(path.name for path in answers.painted.iterdir())
    assert len(asked) <= 4, asked


def test_a_difference_is_seen() -> None:
    there = {"zeros": [np.array([1.0, 2.0], np.float32)], "dtype": np.float32, "scale": float("nan")}
    assert not differences(there, there, there)
    assert differences({**there, "dtype": np.float64}, there, there)
    assert differences({**there, "zeros": [np.array([1.0, 3.0], np.float32)]}, there, there)
    assert differences({**there, "zeros": [np.array([1.0, 2.0])]}, there, there)
    assert differences({**there, "zeros": [np.array([[1.0, 2.0]], np.float32)]}, there, there)
    painted = {**there, "zeros": [np.array([1.0, 9.0], np.float32)]}
    assert not differences({**there, "zeros": [np.array([1.0, 3.0], np.float32)]}, there, painted)
    assert differences({**there, "zeros": [np.array([0.0, 3.0], np.float32)]}, there, painted)
