"""The model corpus, for tests that use real models: they are skipped, with the reason, where there is none.

How long each test file takes is kept in pytest's cache, for `make check` (tools/changed_tests.py).
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.deaths.moments import Clock

# A busy machine is slow, not wrong: no test here fails for the time it took.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background by a shell: tests of Ctrl-C need the signal to do what it does in a terminal.
    signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared")
CORPUS_FIXTURES = frozenset({"corpus", "corpus_models", "corpus_model", "corpus_manifest"})


def _corpus_paths() -> tuple[Path, ...]:
    return tuple(sorted((CORPUS / "models").glob("*.tflite")))


def _what_is_missing() -> str:
    """Why the corpus cannot be used, and what to do; empty if it is there."""
    models = CORPUS / "models"
    if not models.is_dir():
        missing = f"there is no folder {models}"
    elif not _corpus_paths():
        missing = f"the folder {models} holds no .tflite file"
    elif not (models / "MANIFEST.jsonl").is_file():
        missing = f"file not found: {models / 'MANIFEST.jsonl'}"
    else:
        return ""
    return f"needs the model corpus, and {missing}; set OUTLIVE_CORPUS to a folder that has models/"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses a corpus fixture as `corpus`, and skip it all where the corpus is missing."""
    missing = _what_is_missing()
    for item in items:
        if CORPUS_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("corpus")
        if missing and item.get_closest_marker("corpus"):
            item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """The clock by which calls know their deadline, which a test can move."""
    made = Clock(monkeypatch)
    yield made
    made.is_over = True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `corpus_model` once per model of the corpus."""
    if "corpus_model" in metafunc.fixturenames:
        paths: tuple[Any, ...] = _corpus_paths() or (pytest.param(CORPUS, id="no-corpus"),)
        metafunc.parametrize("corpus_model", paths, ids=lambda path: path.name)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The corpus folder."""
    return CORPUS


@pytest.fixture(scope="session")
def corpus_models() -> tuple[Path, ...]:
    """The paths of all models of the corpus, sorted."""
    return _corpus_paths()


@pytest.fixture(scope="session")
def corpus_manifest() -> dict[str, dict[str, Any]]:
    """What is known about each model of the corpus, by file name."""
    lines = (CORPUS / "models" / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    return {row["file"]: row for row in rows}


_seconds: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count the time of each test file."""
    _seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep it: the new time, or a part of the old one where only some tests of a file have run."""
    cache = getattr(session.config, "cache", None)
    if cache is None or hasattr(session.config, "workerinput"):
        return  # a process of xdist: the one that started it hears of every test
    kept = cache.get("outlive/durations", {})
    new = {name: round(max(taken, 0.9 * kept.get(name, 0.0)), 1) for name, taken in _seconds.items()}
    cache.set("outlive/durations", {**kept, **new})
