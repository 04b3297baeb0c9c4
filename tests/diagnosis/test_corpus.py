"""Real models that fail without dying: the diagnosis names the reason that is known of each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import outlive

# What LiteRT says of a model in the manifest, and the cause that is behind it; the group is the operator.
REASONS = (
    (r"unresolved custom op: ([\w:-]+)", "unresolved-custom-op"),
    (r"Select TensorFlow op\(s\).*Node number \d+ \((\w+)\)", "flex-op"),
    (r"failed to delegate (\w+) node", "delegate-refused"),
    (r"not a valid Flatbuffer", "flatbuffer-corrupt"),
    (r"squeeze\.cc.*\((SQUEEZE)\)", "option-out-of-range"),
    (r"\((TRANSPOSE_CONV)\) failed to invoke", "runtime-shape-from-input"),
    # These fail with zeros only, which is what inputs hold that were never set.
    (r"div\.cc.*\((DIV)\) failed to invoke", "constant-out-of-range"),
    (r"\((Mfcc)\) failed to invoke", "runtime-shape-from-input"),
    (r"Invalid tensor size", "runtime-shape-from-input"),
)
EACH = 2


def failing(rows: dict[str, dict[str, Any]]) -> list[tuple[str, str, str | None]]:
    """File, cause and operator of models for every reason, not more than a few each."""
    found: list[tuple[str, str, str | None]] = []
    counts: dict[str, int] = {}
    for name, row in sorted(rows.items()):
        text = row.get("error") or ""
        for pattern, cause in REASONS:
            match = re.search(pattern, text, re.DOTALL)
            if row["outcome"] == "ok" or match is None:
                continue
            counts[pattern] = counts.get(pattern, 0) + 1
            if counts[pattern] <= EACH:
                found.append((name, cause, match.group(1) if match.groups() else None))
            break
    return found


@pytest.mark.corpus
def test_the_reason_of_a_failure_is_named(corpus_manifest: dict[str, dict[str, Any]], corpus: Path) -> None:
    wrong = []
    for name, cause, op in failing(corpus_manifest):
        diagnosis = outlive.diagnose(corpus / "models" / name)
        told = [(diagnosis.cause, diagnosis.op), *((item.cause, item.op) for item in diagnosis.silent)]
        if not any(said == cause and op in (None, place and place.type) for said, place in told):
            wrong.append(f"{name}: {cause} at {op} was told as {told}")
    assert wrong == []


@pytest.mark.corpus
def test_every_failure_of_the_corpus_has_a_known_reason(
    corpus_manifest: dict[str, dict[str, Any]],
) -> None:
    texts = [row.get("error") or "" for row in corpus_manifest.values() if row["outcome"].endswith("_fail")]
    assert [text for text in texts if not any(re.search(item, text, re.DOTALL) for item, _ in REASONS)] == []
