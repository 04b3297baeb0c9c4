"""The table of a scan for other programs: .csv and .parquet, a row per file, written a few rows at a time.

Names are a stranger's: they are escaped, and in .csv one that a spreadsheet would take for a formula gets an
apostrophe in front.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from outlive.atomic_files import whole_file, whole_text
from outlive.fleet import Row
from outlive.names import plain_cell, safe

_NAME = 1000
_GROUP_ROWS = 1000

# Title, type (s text, i whole number, f number, b yes or no), and where it comes from.
Column = tuple[str, str, Callable[[Row], Any]]


def columns(devices: Sequence[str], accelerators: Sequence[str] = ()) -> tuple[Column, ...]:
    """The columns of a table; one more for each device and accelerator that was asked about."""
    return (
        ("path", "s", lambda row: safe(row.path, _NAME)),
        ("outcome", "s", lambda row: row.outcome),
        ("file_bytes", "i", lambda row: row.file_bytes),
        ("operators", "i", lambda row: row.operators),
        ("errors", "i", lambda row: row.errors),
        ("warnings", "i", lambda row: row.warnings),
        ("notes", "i", lambda row: row.notes),
        ("codes", "s", lambda row: " ".join(row.codes)),
        ("planned_peak_bytes", "i", lambda row: row.peak_bytes),
        ("planned_total_bytes", "i", lambda row: row.total_bytes),
        ("arena_bytes", "i", lambda row: row.arena_bytes),
        ("exact", "b", lambda row: row.exact),
        ("bound", "s", lambda row: row.bound),
        ("measured_peak_bytes", "i", lambda row: None if row.run is None else row.run.peak_bytes),
        ("milliseconds", "f", lambda row: None if row.run is None else row.run.milliseconds),
        ("first_milliseconds", "f", lambda row: None if row.run is None else row.run.first_milliseconds),
        ("cause", "s", lambda row: None if row.death is None else row.death.cause),
        ("signal", "s", lambda row: None if row.death is None else row.death.signal),
        ("stage", "s", lambda row: None if row.death is None else row.death.stage),
        ("op", "s", lambda row: None if row.death is None else safe(row.death.op, _NAME)),
        ("why", "s", lambda row: safe(why(row), _NAME)),
        *((f"fits {safe(name, 80)}", "s", _fit(name)) for name in devices),
        *((f"on {safe(name, 80)}", "s", _on(name)) for name in accelerators),
        ("same_as", "s", lambda row: None if row.same_as is None else safe(row.same_as, _NAME)),
        ("changed", "b", lambda row: row.changed),
        ("from_cache", "b", lambda row: row.from_cache),
        ("seconds", "f", lambda row: row.seconds),
        ("host", "s", lambda row: safe(row.host, _NAME)),
        ("sha256", "s", lambda row: row.sha256),
    )


def why(row: Row) -> str:
    """Why it ended as it did: the verdict of a death, the first error, or what was noted."""
    if row.death is not None and row.death.headline:
        return row.death.headline
    if row.findings and row.findings[0].severity == "error":
        return row.findings[0].headline
    return row.note


def _fit(device: str) -> Callable[[Row], str | None]:
    return lambda row: next((item.word for item in row.devices if item.device == device), None)


def _on(accelerator: str) -> Callable[[Row], str | None]:
    return lambda row: next((item.outcome for item in row.accelerators if item.name == accelerator), None)


def accelerators_in(rows: Iterable[Row]) -> tuple[str, ...]:
    """The accelerators that any row knows."""
    return tuple(dict.fromkeys(item.name for row in rows for item in row.accelerators))


def write_csv(rows: Iterable[Row], path: Path, layout: Sequence[Column]) -> None:
    """Write the table as text for spreadsheets."""
    with whole_text(path, newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([_text(title) for title, _, _ in layout])
        writer.writerows([_text(get(row)) for _, _, get in layout] for row in rows)


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain_cell(value) if isinstance(value, str) else value


def needs_parquet() -> str:
    """Why .parquet cannot be written here; empty if it can."""
    from importlib.util import find_spec

    return "" if find_spec("pyarrow") else "pyarrow is not installed; pip install 'outlive[parquet]'"


def write_parquet(rows: Iterable[Row], path: Path, layout: Sequence[Column]) -> None:
    """Write the table as Parquet, in groups of rows."""
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {"s": pa.string(), "i": pa.int64(), "f": pa.float64(), "b": pa.bool_()}
    schema = pa.schema([(title, kinds[kind]) for title, kind, _ in layout])
    with whole_file(path) as file, parquet.ParquetWriter(file, schema) as writer:
        for group in _groups(rows):
            arrays = {
                title: pa.array([get(row) for row in group], kinds[kind]) for title, kind, get in layout
            }
            writer.write_table(pa.table(arrays, schema=schema))


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while group := list(islice(left, _GROUP_ROWS)):
        yield group
