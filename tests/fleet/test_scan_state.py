"""Every file gets one row: identical ones once, known ones from the cache, lost ones in the end too."""

from __future__ import annotations

import platform
import resource
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from outlive.cache import ResultCache
from outlive.fleet import Row
from outlive.fleet.file_discovery import FoundFile
from outlive.fleet.rows import EngineError, ScanOptions, ScanTask, versions
from outlive.fleet.scan_state import Journal, JournalError, ScanState, read_rows
from tests.fleet.made import death, only_named


def files(folder: Path, **contents: str) -> list[FoundFile]:
    made = []
    for name, content in contents.items():
        (folder / name).write_text(content, "utf-8")
        made.append(FoundFile(path=str(folder / name), name=name))
    return made


class Office:
    """A desk with its journal, and an engine that a test plays."""

    def __init__(
        self,
        folder: Path,
        found: list[FoundFile],
        cache: ResultCache | None = None,
        order: ScanOptions | None = None,
    ) -> None:
        self.journal = Journal(folder / "rows.jsonl")
        self.desk = ScanState(found, order or ScanOptions(), self.journal, cache)

    def rows(self) -> dict[str, Row]:
        rows = [row for _, row in read_rows(self.journal.path)]
        assert len(rows) == len({row.path for row in rows}), "a file has two rows"
        return {row.name if row.same_as is None else Path(row.path).name: row for row in rows}

    def work(self, kills: frozenset[str] = frozenset(), at_once: int = 4) -> Counter[str]:
        """Do all tasks, some at once; a task in `kills` takes all that are being done along."""
        done: Counter[str] = Counter()
        while not self.desk.done:
            tasks = self.desk.round()
            held: list[ScanTask] = []
            for task in tasks:
                held.append(task)
                if len(held) == at_once:
                    break
            done.update(task.name for task in held)
            if any(task.name in kills for task in held):
                self.desk.lost(RuntimeError("worker lost"))
                continue
            for task in held:
                self.desk.take(answer(task))
        return done


def answer(task: ScanTask) -> Row:
    return replace(only_named(task), name=task.name, versions=versions())


def test_each_file_once(tmp_path: Path) -> None:
    office = Office(tmp_path, files(tmp_path, a="1", b="2", c="3"))
    assert set(office.work().values()) == {1}
    assert set(office.rows()) == {"a", "b", "c"}


def test_identical_files_are_done_once(tmp_path: Path) -> None:
    office = Office(tmp_path, files(tmp_path, a="1", b="1", c="2", d="1"))
    assert office.work(at_once=2) == {"a": 1, "c": 1}
    rows = office.rows()
    assert {name: row.same_as and Path(row.same_as).name for name, row in rows.items()} == {
        "a": None,
        "b": "a",
        "c": None,
        "d": "a",
    }
    assert rows["b"].sha256 == rows["a"].sha256


def test_twins_of_a_file_that_changed_meanwhile_are_looked_at_themselves(tmp_path: Path) -> None:
    office = Office(tmp_path, files(tmp_path, a="1", b="1", c="1"))
    task = next(office.desk.round())
    assert next(office.desk.round(), None) is None  # the twins wait
    office.desk.take(replace(answer(task), changed=True))
    assert office.work() == {"b": 1}
    assert [office.rows()[name].same_as is None for name in "abc"] == [True, True, False]


def test_what_is_kept_is_not_done_again(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path / "cache")
    found = files(tmp_path, a="1", b="2")
    assert len(Office(tmp_path, found, cache).work()) == 2
    (tmp_path / "second").mkdir()
    (tmp_path / "b").write_text("changed", "utf-8")
    office = Office(tmp_path / "second", found, cache)
    assert office.work() == {"b": 1}
    assert office.rows()["a"].from_cache


@pytest.mark.parametrize(("run", "kept"), [(True, False), (False, True)])
def test_what_ran_on_another_machine_is_not_kept_as_this_ones(tmp_path: Path, run: bool, kept: bool) -> None:
    cache, order = ResultCache(tmp_path / "cache"), ScanOptions(run=run)
    found = files(tmp_path, a="1")
    for host, again in (("elsewhere", not kept), (platform.node(), False)):
        office = Office(tmp_path, found, cache, order)
        office.desk.take(replace(answer(next(office.desk.round())), host=host))
        assert office.desk.done or next(office.desk.round(), None) is None
        office.journal.close()
        office = Office(tmp_path, found, cache, order)
        assert (next(office.desk.round(), None) is not None) == again
        office.journal.close()
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)


def test_what_died_for_want_of_memory_is_not_kept(tmp_path: Path) -> None:
    cache, order = ResultCache(tmp_path / "cache"), ScanOptions(run=True)
    found = files(tmp_path, a="1")
    for cause, again in (("out-of-memory", True), ("option-out-of-range", False)):
        office = Office(tmp_path, found, cache, order)
        task = next(office.desk.round())
        died = replace(answer(task), outcome="died", death=death(cause), host=platform.node())
        office.desk.take(died)
        office.journal.close()
        office = Office(tmp_path, found, cache, order)
        assert (next(office.desk.round(), None) is not None) == again
        office.journal.close()


def test_a_limit_of_memory_is_part_of_what_is_asked() -> None:
    little, all_there_is = ScanOptions(run=True, memory_bytes=650_000), ScanOptions(run=True)
    assert little.key != all_there_is.key
    assert ScanOptions(delegates=True, memory_bytes=650_000).key != ScanOptions(delegates=True).key
    assert ScanOptions(memory_bytes=650_000).key == ScanOptions().key  # nothing is run


@pytest.mark.parametrize("twins", [False, True])
def test_a_journal_that_cannot_be_written_is_told(tmp_path: Path, twins: bool) -> None:
    office = Office(tmp_path, files(tmp_path, a="1", b="1" if twins else "2", c="3"))
    task = next(office.desk.round())
    if twins:  # a row like another one is written when tasks are asked for
        office.desk.take(answer(task))
    with no_room(office.journal.path):
        if twins:
            assert next(office.desk.round(), None) is None
        else:
            with pytest.raises(JournalError, match=r"cannot write .*: File too large"):
                office.desk.take(answer(task))
    assert not office.desk.done
    assert next(office.desk.round(), None) is None  # no more is begun
    with pytest.raises(JournalError, match=r"cannot write .*: File too large") as told:
        office.desk.raise_problem()
    assert told.value.filename == str(office.journal.path)


@contextmanager
def no_room(path: Path) -> Iterator[None]:
    """A file that may not grow any more, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_damaged_cache_is_no_cache(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path / "cache")
    found = files(tmp_path, a="1")
    Office(tmp_path, found, cache).work()
    for kept in (tmp_path / "cache").rglob("*.json"):
        kept.write_bytes(kept.read_bytes()[:50])
    (tmp_path / "second").mkdir()
    assert Office(tmp_path / "second", found, cache).work() == {"a": 1}


def test_a_row_of_another_file_in_the_cache_is_not_taken(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path / "cache")
    Office(tmp_path, files(tmp_path, a="1", b="2"), cache).work()
    one, other = (tmp_path / "cache").rglob("*.json")
    one.write_bytes(other.read_bytes())
    (tmp_path / "second").mkdir()
    assert len(Office(tmp_path / "second", files(tmp_path, a="1", b="2"), cache).work()) == 1


def test_a_lost_process_costs_a_retry(tmp_path: Path) -> None:
    office = Office(tmp_path, files(tmp_path, a="1", b="2", c="3"))
    held = [next(office.desk.round())]
    office.desk.lost(RuntimeError("worker lost"))
    done = office.work()
    assert done[held[0].name] == 1
    assert {row.outcome for row in office.rows().values()} == {"ran"}


def test_a_killer_gets_a_row_of_its_own_and_costs_nobody_else(tmp_path: Path) -> None:
    contents = {name: name for name in "abcdefgh"}
    office = Office(tmp_path, files(tmp_path, **contents))
    office.work(kills=frozenset("cf"))
    rows = office.rows()
    assert {name for name, row in rows.items() if row.outcome == "lost"} == {"c", "f"}
    assert "lost 4 times: RuntimeError: worker lost" in rows["c"].note
    assert set(rows) == set("abcdefgh")


def test_an_engine_that_is_gone_is_not_asked_for_ever(tmp_path: Path) -> None:
    contents = {f"f{number}": str(number) for number in range(40)}
    office = Office(tmp_path, files(tmp_path, **contents))
    with pytest.raises(EngineError, match="the engine is gone: RuntimeError: worker lost"):
        office.work(kills=frozenset(contents))
    assert len(office.rows()) < 10


def test_answers_of_a_round_that_is_over_are_not_written_twice(tmp_path: Path) -> None:
    office = Office(tmp_path, files(tmp_path, a="1"))
    late = next(office.desk.round())
    office.desk.lost(RuntimeError("worker lost"))
    office.work()
    office.desk.take(answer(late))
    assert set(office.rows()) == {"a"}


def test_a_round_that_is_over_gives_no_more_tasks(tmp_path: Path) -> None:
    office = Office(tmp_path, files(tmp_path, a="1", b="2"))
    old = office.desk.round()
    next(old)
    office.desk.lost(RuntimeError("worker lost"))
    assert next(old, None) is None
