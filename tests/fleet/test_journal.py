"""What is written stays, whatever became of the writer; what is damaged costs its own line."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlive.fleet.scan_state import Journal, JournalInUse, RowFile, drop_old_rows, read_rows, row_at
from tests.fleet.made import row


def written(path: Path, *names: str, resume: bool = False) -> list[int]:
    journal = Journal(path, resume)
    try:
        return [journal.write(row(name)) for name in names]
    finally:
        journal.close()


def paths(path: Path) -> list[str]:
    return [item.path for _, item in read_rows(path)]


def test_rows_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    places = written(path, "a", "b", "c")
    assert paths(path) == ["a", "b", "c"]
    assert [row_at(path, place).path for place in places] == ["a", "b", "c"]


def test_a_line_cut_short_is_taken_away_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    written(path, "a", "b")
    whole = path.read_bytes()
    for cut in (1, 20, len(whole) // 2 - 1):
        path.write_bytes(whole[:-cut])
        assert paths(path) == ["a"]
        written(path, "c", resume=True)
        assert paths(path) == ["a", "c"]


def test_garbage_costs_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    long = b"x" * (5 << 20)
    path.write_bytes(row("a").line() + b"garbage\n" + long + b"\n" + row("b").line() + b'{"torn":')
    assert paths(path) == ["a", "b"]


def test_without_resume_it_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    written(path, "a", "b")
    written(path, "c")
    assert paths(path) == ["c"]


def test_two_scans_into_one_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    journal = Journal(path)
    journal.write(row("a"))
    with pytest.raises(JournalInUse, match="another scan"):
        Journal(path)
    journal.close()
    assert paths(path) == ["a"]


def test_of_two_rows_the_later_counts(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    journal = Journal(path)
    for name, errors in (("b", 1), ("a", 2), ("b", 3)):
        journal.write(row(name, errors=errors))
    journal.close()
    rows = RowFile(path)
    assert rows.has_old_rows
    assert [(item.path, item.errors) for item in rows] == [("a", 2), ("b", 3)]
    drop_old_rows(path)
    assert len(paths(path)) == 2
    assert not RowFile(path).has_old_rows


def test_found_by_path_or_else_by_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    journal = Journal(path)
    for where, name in (("old/a", "a"), ("x/b", "b"), ("y/b", "b")):
        journal.write(row(where, name=name))
    journal.close()
    rows = RowFile(path)
    assert rows.find(row("new/a", name="a")) == row("old/a", name="a")
    assert rows.find(row("y/b", name="b")) == row("y/b", name="b")
    assert rows.find(row("new/b", name="b")) is None  # two are called that
