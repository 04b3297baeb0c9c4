"""What the rules say about real crashes before anything runs, and that they leave running models alone."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import outlive
from benchmarks.case_words import cause_of

LEAST_SHARE = 0.9


def cases(corpus: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The crashes that are visible in their model's file."""
    found = ((path.parent / "model.tflite", json.loads(path.read_text("utf-8")))
             for path in sorted((corpus / "crashes").glob("*/case.json")))  # fmt: skip
    return [(path, case) for path, case in found if _is_visible(path, case)]


def _is_visible(path: Path, case: dict[str, Any]) -> bool:
    # Some scripts damage their model before they load it: the file beside them is sound.
    return path.exists() and case["visible_statically"] == "flatbuffer" and "_fz_" in path.parent.name


def test_most_visible_crashes_are_named_with_their_operator(corpus: Path) -> None:
    confusion: Counter[tuple[str, str]] = Counter()
    placed = known = 0
    for path, case in cases(corpus):
        errors = outlive.check(path).errors
        first = errors[0] if errors else None
        confusion[cause_of(case), first.cause if first is not None else "nothing"] += 1
        named = (case.get("op") or {}).get("name", "?")
        if first is not None and named != "?":
            known += 1
            placed += first.op is not None and first.op.type == named
    for (cause, said), count in sorted(confusion.items()):
        print(f"{count:4} {cause:32} {said if said != cause else ''}")
    total = sum(confusion.values())
    right = sum(count for (cause, said), count in confusion.items() if cause == said)
    if not total:
        pytest.skip("the corpus has no crashes/ that are visible in a file")
    assert right >= LEAST_SHARE * total, confusion
    assert placed >= LEAST_SHARE * known


def test_a_model_that_runs_has_no_error(
    corpus_models: tuple[Path, ...], corpus_manifest: dict[str, dict[str, Any]]
) -> None:
    runs = [path for path in corpus_models if corpus_manifest.get(path.name, {}).get("outcome") == "ok"]
    assert runs
    wrong = {path.name: [str(item) for item in outlive.check(path).errors] for path in runs}
    assert {name: errors for name, errors in wrong.items() if errors} == {}
