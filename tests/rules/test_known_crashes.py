"""What the rules say about real crashes before anything runs, and that they leave running models alone."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import outlive

# Words for causes that case files spell otherwise; all others only have `-` for `_`.
SPELLED = {
    "external_buffer_oob": "external-buffer-out-of-file",
    "required_tensor_is_minus1": "required-tensor-missing",
    "quant_zero_point_range": "quant-zero-point-out-of-range",
    "zero_size_dim": "zero-size-dimension",
    "tensor_alias": "tensor-aliased",
    "buffer_alias": "buffer-aliased",
    "flatbuffer_corruption": "flatbuffer-corrupt",
    "constant_value_out_of_range": "constant-out-of-range",
}
LEAST_SHARE = 0.9


def cases(corpus: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The crashes that are visible in their model's file."""
    found = ((path.parent / "model.tflite", json.loads(path.read_text("utf-8")))
             for path in sorted((corpus / "crashes").glob("*/case.json")))  # fmt: skip
    return [(path, case) for path, case in found if _is_visible(path, case)]


def _is_visible(path: Path, case: dict[str, Any]) -> bool:
    # Some scripts damage their model before they load it: the file beside them is sound.
    return path.exists() and case["visible_statically"] == "flatbuffer" and "_fz_" in path.parent.name


def wanted(case: dict[str, Any]) -> str:
    word = case["root_cause"]
    return SPELLED.get(word, word.replace("_", "-"))


def test_most_visible_crashes_are_named_with_their_operator(corpus: Path) -> None:
    confusion: Counter[tuple[str, str]] = Counter()
    placed = known = 0
    for path, case in cases(corpus):
        errors = outlive.check(path).errors
        first = errors[0] if errors else None
        confusion[wanted(case), first.cause if first is not None else "nothing"] += 1
        named = (case.get("op") or {}).get("name", "?")
        if first is not None and first.op is not None and named != "?":
            known += 1
            placed += first.op.type == named
    for (cause, said), count in sorted(confusion.items()):
        print(f"{count:4} {cause:32} {said if said != cause else ''}")
    total = sum(confusion.values())
    right = sum(count for (cause, said), count in confusion.items() if cause == said)
    if not total:
        pytest.skip("the corpus has no crashes/ that are visible in a file")
    assert right >= LEAST_SHARE * total, confusion
    assert placed >= LEAST_SHARE * known


def test_a_model_that_runs_has_no_error(
    corpus_model: Path, corpus_manifest: dict[str, dict[str, Any]]
) -> None:
    row = corpus_manifest.get(corpus_model.name)
    if row is None or row["outcome"] != "ok":
        pytest.skip("it does not run")
    assert [str(finding) for finding in outlive.check(corpus_model).errors] == []
