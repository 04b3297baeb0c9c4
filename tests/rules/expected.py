"""Texts that users read, kept in files beside the cases; `OUTLIVE_REWRITE=1` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parent


def expected_text(code: str, case: str, text: str) -> str:
    """What a case has to say (`text` is what it says now, to be written where that is asked for).

    The text for `bad.py` is in `expected.txt`, for `bad_second.py` in `expected_second.txt`.
    """
    expected = HERE / code.lower() / f"expected{case.removeprefix('bad')}.txt"
    if os.environ.get("OUTLIVE_REWRITE"):
        expected.write_text(text + "\n", encoding="utf-8")
    return expected.read_text(encoding="utf-8").rstrip("\n")


def case_names(code: str, kind: str) -> list[str]:
    """The cases of a rule: the stems of its `bad*.py` or `good*.py`."""
    return [path.stem for path in sorted((HERE / code.lower()).glob(f"{kind}*.py"))]


def hold_pairs(code: str) -> None:
    """Every bad case has its text, and every text its case."""
    texts = {path.stem.removeprefix("expected") for path in (HERE / code.lower()).glob("expected*.txt")}
    cases = {case.removeprefix("bad") for case in case_names(code, "bad")}
    assert cases
    assert cases == texts
