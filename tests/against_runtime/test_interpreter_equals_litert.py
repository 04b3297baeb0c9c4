"""The drop-in gives what LiteRT gives, bit for bit, and says what it says, on every model that runs.

LiteRT runs twice, the second time with all fresh memory painted over: rows of an output that differ then are
rows that it never sets (unused detections), and are not compared.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.corpus, pytest.mark.timeout(900)]

PROBE = Path(__file__).parent / "interpreter_probe.py"
RESOLVERS = ("AUTO", "BUILTIN_REF", "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
SIDES = {
    "litert": ("ai_edge_litert.interpreter", {}),
    "painted": ("ai_edge_litert.interpreter", {"MALLOC_PERTURB_": "85"}),
    "outlive": ("outlive", {}),
}
PARTS = ("opened", "invoke", "call")

Seen = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def runnable(corpus_models: tuple[Path, ...], corpus_manifest: dict[str, dict[str, Any]]) -> list[Path]:
    return [path for path in corpus_models if corpus_manifest[path.name]["outcome"] == "ok"]


@pytest.fixture(scope="module")
def all_seen(runnable: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """For each side and resolver, the folder with what was seen; two processes at a time."""
    jobs = {(side, resolver): tmp_path_factory.mktemp(side) for resolver in RESOLVERS for side in SIDES}
    slow_first = sorted(jobs, key=lambda job: job[1] != "BUILTIN_REF")

    def examine(job: tuple[str, str]) -> None:
        module, environment = SIDES[job[0]]
        command = [sys.executable, str(PROBE), module, job[1], str(jobs[job]), *map(str, runnable)]
        ended = subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert ended.returncode == 0, f"{job}: {ended.stderr[-1000:]}"

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(examine, slow_first))
    return jobs


def load(all_seen: dict[tuple[str, str], Path], side: str, resolver: str, model: Path) -> Seen:
    seen: Seen = pickle.loads((all_seen[side, resolver] / f"{model.name}.pickle").read_bytes())
    return seen


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
    a, b, c = (np.frombuffer(x.tobytes(), np.uint8).reshape(x.size, -1) for x in (ours, theirs, painted))
    settled = (b == c).all(axis=1)
    wrong = int(((a != b).any(axis=1) & settled).sum())
    return [f"{where}: {wrong} of {theirs.size} values"] if wrong else []


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("resolver", RESOLVERS)
def test_the_drop_in_answers_as_litert(
    resolver: str, part: str, runnable: list[Path], all_seen: dict[tuple[str, str], Path]
) -> None:
    wrong = []
    for model in runnable:
        seen = [load(all_seen, side, resolver, model)[part] for side in ("outlive", "litert", "painted")]
        wrong += differences(*seen, where=model.name)
    assert not wrong, "\n".join(wrong[:40])


def test_all_models_were_compared_and_ran(
    runnable: list[Path], all_seen: dict[tuple[str, str], Path]
) -> None:
    assert len(runnable) >= 71
    refused = [
        (model.name, resolver, part, seen[part]["raised"])
        for resolver in RESOLVERS
        for model in runnable
        for seen in [load(all_seen, "outlive", resolver, model)]
        for part in PARTS
        if "raised" in seen[part] and "raised" not in load(all_seen, "litert", resolver, model)[part]
    ]
    assert not refused
    signed = [model for model in runnable if load(all_seen, "litert", "AUTO", model)["call"]]
    assert len(signed) >= 10


def test_most_of_what_litert_gives_is_compared(
    runnable: list[Path], all_seen: dict[tuple[str, str], Path]
) -> None:
    """The second opinion must not excuse everything: only detection outputs have rows that are never set."""
    excused = []
    for model in runnable:
        first, second = (load(all_seen, side, "AUTO", model)["invoke"] for side in ("litert", "painted"))
        if differences(second, first, first):
            excused.append(model.name)
    assert len(excused) <= 4, excused


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
