"""What got worse between two scans is told; what is within the tolerance, or better, is not."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from outlive.fleet.regressions import ScanComparison, Tolerances, changes_for_the_worse, compare_rows
from outlive.fleet.rows import DeviceFit, FindingSummary, Row
from outlive.fleet.scan_state import Journal, RowFile
from tests.fleet.made import death, output, row, run

USUAL = Tolerances()


def worse(old: Row, new: Row, tolerances: Tolerances = USUAL) -> list[str]:
    return [what for what, _, _ in changes_for_the_worse(old, new, tolerances)]


def test_the_same_is_not_worse() -> None:
    assert worse(row(), row()) == []


def test_peak() -> None:
    old = row(run=run(10.0, 1_000_000))
    assert worse(old, row(run=run(10.0, 1_040_000))) == []
    assert worse(old, row(run=run(10.0, 1_060_000))) == ["peak"]
    assert worse(old, row(run=run(10.0, 1_060_000)), Tolerances(peak=0.1)) == []
    assert worse(row(run=run(10.0, 1_000)), row(run=run(10.0, 9_000))) == []  # a page or two are noise
    assert worse(row(), row(peak_bytes=1_100_000)) == ["planned peak"]


def test_latency() -> None:
    assert worse(row(), row(run=run(12.0))) == []
    assert worse(row(), row(run=run(13.0))) == ["latency"]
    assert worse(row(), row(run=run(5.0))) == []
    assert worse(row(run=run(0.01)), row(run=run(0.04))) == []


def test_findings() -> None:
    new = FindingSummary(code="Q103", name="n", severity="warning", headline="h", where="w")
    note = replace(new, code="W101", severity="note")
    assert worse(row(), row(codes={"F104": 1, "Q103": 1}, findings=(*row().findings, new))) == ["finding"]
    assert worse(row(), row(codes={"F104": 1, "W101": 1}, findings=(*row().findings, note))) == []
    assert worse(row(), row(codes={"F104": 2})) == ["finding"]
    assert worse(row(), row(codes={}, findings=())) == []


def test_findings_beyond_those_a_row_holds() -> None:
    many = row(codes={"F104": 40, "Q103": 1, "M107": 1, "X999": 1}, findings=row().findings * 30)
    told = list(changes_for_the_worse(row(codes={"F104": 40}), many, USUAL))
    assert [what for what, _, _ in told] == ["finding"]  # M107 is a note
    assert told[0][2].startswith("1 of error[Q103]: ")


def test_verdicts() -> None:
    tight, no = (row(devices=(DeviceFit(device="pico", word=word),)) for word in ("tight", "does not fit"))
    assert worse(row(), tight) == ["verdict"]
    assert worse(tight, no) == ["verdict"]
    assert worse(no, tight) == []
    assert worse(row(devices=()), no) == []  # a device that was not asked about then


def test_endings() -> None:
    fell = row(outcome="died", run=None, death=death("out-of-memory"))
    assert worse(row(), fell) == ["outcome"]
    assert worse(fell, row()) == []
    assert worse(fell, replace(fell, death=death("option-out-of-range"))) == ["outcome"]
    assert worse(row(outcome="sound", run=None), row()) == []
    assert worse(row(), row(outcome="sound", run=None)) == []


def test_not_run_is_no_ending_that_is_worse() -> None:
    flawed = row(outcome="flawed", run=None)
    assert worse(row(), flawed) == []  # it ran with the very same error
    assert worse(row(errors=0, codes={}, findings=()), flawed) == ["outcome", "finding"]
    assert worse(row(outcome="sound", run=None, errors=0), flawed) == ["outcome"]


def test_outputs() -> None:
    old = row(run=run(10.0, 2_000_000, output("aa", (0.0, 0.5, 1.0))))
    near = row(run=run(10.0, 2_000_000, output("bb", (0.0, 0.5005, 1.0))))
    far = row(run=run(10.0, 2_000_000, output("bb", (0.0, 0.6, 1.0))))
    assert worse(old, near) == []
    assert worse(old, near, Tolerances(outputs=0.0)) == ["outputs"]
    assert worse(old, far) == ["outputs"]
    assert worse(old, far, Tolerances(outputs=0.2)) == []
    nan = row(run=run(10.0, 2_000_000, output("bb", (0.0, math.nan, 1.0))))
    assert worse(old, nan) == ["outputs"]
    assert worse(nan, nan) == []
    shaped = row(run=run(10.0, 2_000_000, output("bb", (0.0, 0.5, 1.0), shape=(3,))))
    assert worse(old, shaped) == ["outputs"]
    assert worse(old, row(run=run(10.0, 2_000_000, output("aa"), output("cc")))) == ["outputs"]


def test_tables(tmp_path: Path) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    for path, rows in (
        (old, [row("a"), row("b"), row("gone")]),
        (new, [row("a"), row("b", run=run(99.0)), row("c", errors=0)]),
    ):
        journal = Journal(path)
        for one in rows:
            journal.write(one)
        journal.close()
    found = compare_rows(RowFile(old), new, USUAL)
    assert isinstance(found, ScanComparison)
    assert (found.compared, found.added, found.gone, found.worse) == (2, 1, 1, 1)
    assert found.regressions[0].path == "b"


@pytest.mark.parametrize(
    ("new", "what", "now"),
    [
        (
            row("new", outcome="died", run=None, death=death("out-of-memory")),
            "outcome",
            "died: out-of-memory",
        ),
        (row("new", outcome="broken", run=None), "outcome", "broken"),
        (row("new"), "finding", "1 error: h"),
        (
            row("new", errors=0, devices=(DeviceFit(device="pico", word="does not fit"),)),
            "verdict",
            "pico: does not fit",
        ),
        (row("new", errors=0), None, ""),
        (row("new", outcome="sound", run=None, errors=0), None, ""),
    ],
)
def test_what_is_wrong_with_a_new_file_is_worse(tmp_path: Path, new: Row, what: str | None, now: str) -> None:
    (tmp_path / "old.jsonl").write_bytes(row("a").line())
    (tmp_path / "new.jsonl").write_bytes(row("a").line() + new.line())
    found = compare_rows(RowFile(tmp_path / "old.jsonl"), tmp_path / "new.jsonl", USUAL)
    assert (found.compared, found.added) == (1, 1)
    assert found.counts == ({} if what is None else {what: 1})
    assert [(item.was, item.now) for item in found.regressions] == (
        [] if what is None else [("a new file", now)]
    )


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_tolerances_that_make_no_sense(value: float) -> None:
    with pytest.raises(ValueError, match="is not a share"):
        Tolerances(peak=value)
