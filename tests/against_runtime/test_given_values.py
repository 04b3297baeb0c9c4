"""Values that a rule calls an error end a run badly in the real runtime, and the nearest good ones do not."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.process.flight import Flight
from outlive.rules.feed import Feed
from tests.rules.expected import case_names

# Rules whose finding is certain whatever the model makes of the values afterwards.
FATAL = ("I301", "I308", "I309", "I310", "I311")
LEFT_OUT = {
    # LiteRT gives a wrong number where TensorFlow's interpreter dies.
    ("I309", "bad_constant"),
    # More elements than a machine of tests may be asked for.
    ("I311", "bad_huge"),
    ("I311", "bad_tile"),
    # Ends badly for another reason: RELU takes no int32; outputs whose size only the run tells, or that are
    # empty, cannot be read.
    ("I308", "good_other"),
    ("I311", "good"),
    ("I311", "good_empty"),
}


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(code, case, id=f"{code}-{case}")
        for code in FATAL
        for case in case_names(code, kind)
        if (code, case) not in LEFT_OUT
    ]


def fly(code: str, case: str, tmp_path: Path) -> Flight | str:
    """How it ends, or why the value could not even be set."""
    feed: Feed = importlib.import_module(f"tests.rules.{code.lower()}.{case}").fact(tmp_path)
    values = {given.tensor.name: given.array for given in feed.given}
    try:
        return outlive.run(feed.model, values, limits=outlive.Limits(memory="1GB", seconds=300), force=True)
    except outlive.InputError as error:
        return error.finding.code


@pytest.mark.parametrize(("code", "case"), cases("bad"))
def test_what_is_called_an_error_ends_badly(code: str, case: str, tmp_path: Path) -> None:
    end = fly(code, case, tmp_path)
    if isinstance(end, str):
        assert (code, end) == ("I301", "I204")
    else:
        assert end.died or end.error_type


@pytest.mark.parametrize(("code", "case"), cases("good"))
def test_what_is_left_alone_runs(code: str, case: str, tmp_path: Path) -> None:
    end = fly(code, case, tmp_path)
    assert not isinstance(end, str), end
    assert not end.died
    assert not end.error_type, end.error_text
