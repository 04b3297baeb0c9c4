"""Tables of a scan: what strangers call their files stays text, in every form; nothing is held in memory."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from outlive.fleet.regressions import Tolerances, compare_rows
from outlive.fleet.rows import AcceleratorSummary, Row, ScanOptions
from outlive.fleet.scan_state import Journal, RowFile
from outlive.fleet.scanning import Scan, ScanCounts
from outlive.rendering.console import print_parts
from outlive.rendering.fleet_tables import columns, write_csv, write_parquet
from outlive.rendering.media.html import render_html
from outlive.rendering.media.json import document_of
from outlive.rendering.media.text import draw_text
from outlive.rendering.pages.scan import page
from tests.fleet.made import death, row, run

HOSTILE = (
    "=cmd|' /C calc'!A0",
    "</script><script>alert(1)</script>",
    "a\nb\x1b[31m\u202e",
    "b\udcff",
    "-2+3",
)


def scanned(folder: Path, *rows: Row, against: Path | None = None, **wishes: bool) -> Scan:
    path = folder / "rows.jsonl"
    journal, tally = Journal(path), ScanCounts(files=len(rows))
    for one in rows:
        journal.write(one)
        tally.add(one)
    journal.close()
    found = None if against is None else compare_rows(RowFile(against), path, Tolerances())
    return Scan(path=path, tally=tally, engine="local", order=ScanOptions(**wishes), comparison=found)


@pytest.fixture
def hostile(tmp_path: Path) -> Scan:
    """Every name where a name can be."""
    rows = [
        row(
            name,
            outcome="died",
            same_as=name,
            note=name,
            death=death("out-of-memory"),
            accelerators=(AcceleratorSummary(name="gpu", outcome="died"),),
        )
        for name in HOSTILE
    ]
    return scanned(tmp_path, *rows, run=True, delegates=True)


def text(scan: Scan) -> str:
    stream = io.StringIO()
    print_parts(draw_text(page(scan)), stream)
    return stream.getvalue()


def html(scan: Scan) -> str:
    return render_html(page(scan), document_of(scan))


def test_csv(hostile: Scan, tmp_path: Path) -> None:
    write_csv(hostile, tmp_path / "t.csv", columns(["pico"], ["gpu"]))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text("utf-8"))))
    assert len(rows) == len(HOSTILE)
    for one in rows:
        assert not one["path"].startswith(("=", "+", "-", "@"))
        assert one["path"].isprintable()
        assert (one["fits pico"], one["on gpu"]) == ("fits", "died")


def test_parquet(hostile: Scan, tmp_path: Path) -> None:
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason="pip install 'outlive[parquet]' to write .parquet"
    )
    write_parquet(hostile, tmp_path / "t.parquet", columns([]))
    found = parquet.read_table(tmp_path / "t.parquet").to_pydict()
    assert len(found["path"]) == len(HOSTILE)
    assert all(path.isprintable() for path in found["path"])
    assert found["milliseconds"] == [10.0] * len(HOSTILE)


def test_html(hostile: Scan) -> None:
    shown = html(hostile)
    assert "<script>alert" not in shown
    assert "\u202e" not in shown
    assert "Content-Security-Policy" in shown
    assert shown.encode("utf-8")


def test_text(hostile: Scan) -> None:
    shown = text(hostile)
    assert "\x1b" not in shown
    assert "5 files  5 models crashed or hung" in shown
    assert "a\\nb\\x1b[31m\\u202e" in shown


def test_many_rows_are_summed_up(tmp_path: Path) -> None:
    rows = [row(f"{number:03}", outcome="died", death=death("out-of-memory")) for number in range(45)]
    shown = text(scanned(tmp_path, *rows))
    assert "Problems" in shown
    assert "and 15 more: write them with -o results.html or .csv" in shown


def test_the_document(tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    journal = Journal(old)
    journal.write(row("a"))
    journal.close()
    scan = scanned(tmp_path, row("a", run=run(99.0)), against=old)
    found = json.loads(json.dumps(document_of(replace(scan, written=("x.csv",), with_rows=True))))
    assert (found["schema"], found["kind"]) == ("outlive/1", "scan")
    assert found["against"]["counts"] == {"latency": 1}
    assert found["against"]["regressions"][0]["now"] == "99.000 ms (+890%)"
    assert [one["path"] for one in found["rows"]] == ["a"]
    assert "1 regression" in text(scan)
    assert "1 regression" in html(scan)
