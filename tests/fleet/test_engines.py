"""The same table on every engine, whatever the engine loses on the way."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.fleet import Row, engines
from outlive.fleet.engines import open_engine
from outlive.fleet.file_discovery import find_files
from outlive.fleet.local_engine import WORKER_LIFETIME
from outlive.fleet.rows import EngineError, ScanOptions
from outlive.fleet.scan_state import Journal, JournalInUse
from outlive.fleet.scanning import Scan, scan_files
from tests.deaths import scenes
from tests.fleet import made

REPOSITORY = Path(__file__).parents[2]


def table(scan: Scan) -> list[Row]:
    """The rows without what differs from run to run: times, measured memory, machines."""
    rows = []
    for row in scan:
        run = (
            None if row.run is None else replace(row.run, milliseconds=0, first_milliseconds=0, peak_bytes=0)
        )
        # Which of two identical files came first is nobody's business.
        rows.append(replace(row, run=run, seconds=0, host="", same_as=None, from_cache=False))
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of all kinds, some of them identical, and a broken one."""
    folder = made.models(tmp_path_factory.mktemp("models"), "healthy", "healthy_int8", "wasteful", copies=2)
    made.models(folder, "deadly")
    (folder / "copy.tflite").write_bytes((folder / "healthy_0.tflite").read_bytes())
    (folder / "broken.tflite").write_bytes(b"nothing")
    return folder


@pytest.fixture(scope="module")
def local(folder: Path) -> Scan:
    """The table that all others are held against."""
    return outlive.scan(folder, run=True, jobs=2, cache=False)


def test_the_table(local: Scan) -> None:
    assert len(local) == 9
    assert local.tally.outcomes == {"ran": 7, "died": 1, "broken": 1}
    assert local.tally.same == 1
    assert [Path(row.path).name for row in local] == sorted(Path(row.path).name for row in local)


def test_one_job_is_done_in_another_process_as_well(folder: Path, local: Scan) -> None:
    scan = outlive.scan(folder, run=True, jobs=1, cache=False)
    assert table(scan) == table(local)


@pytest.fixture(scope="module")
def ray_path() -> Iterator[None]:
    """Workers of Ray find the tests too."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(REPOSITORY), before)))
    yield
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_clusters_give_the_same_table_and_lose_nothing(
    folder: Path, local: Scan, engine: str, ray_path: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed" if engine == "dask" else "ray", reason=f"needs 'outlive[{engine}]'")
    mark = tmp_path / "killed"
    monkeypatch.setenv(made.MARK, str(mark))
    order = ScanOptions(run=True)
    settings = malloc_settings()
    scan = scan_files(
        find_files([str(folder)]), order, examine=made.examine_and_kill_once, on=f"{engine}://local", jobs=2
    )
    assert mark.exists(), "no worker of the engine was killed"
    assert table(scan) == table(local)
    assert malloc_settings() == settings, "the engine leaves settings behind that change what models take"


def malloc_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(("MALLOC_", "OMP_"))}


def test_workers_of_this_process_are_left_alone(folder: Path) -> None:
    from joblib import parallel_config

    with outlive.Interpreter(str(folder / "healthy_0.tflite")) as interpreter:
        interpreter.allocate_tensors()
        with parallel_config("threading", n_jobs=2):
            outlive.scan(folder / "healthy_1.tflite", run=True, on="joblib", cache=False)
        assert WORKER_LIFETIME.idle
        interpreter.invoke()


def test_whatever_joblib_is_told(folder: Path, local: Scan) -> None:
    from joblib import parallel_config

    with parallel_config("threading", n_jobs=2):
        scan = outlive.scan(folder, run=True, on="joblib", cache=False)
    assert table(scan) == table(local)


def scanned(folder: Path, examine: Any) -> Scan:
    return scan_files(find_files([str(folder)]), ScanOptions(), examine=examine, jobs=2)


@pytest.fixture
def named(tmp_path: Path) -> Path:
    for name in ("a", "b", "killer", "c", "d", "once", "e", "f"):
        (tmp_path / f"{name}.tflite").write_text(name, "utf-8")
    return tmp_path


def test_a_process_that_is_lost_once_costs_nothing(named: Path) -> None:
    (named / "killer.tflite").unlink()
    scan = scanned(named, made.kill_once)
    assert scan.tally.outcomes == {"ran": 7}


def test_a_file_that_always_takes_its_process_along_costs_its_own_row(named: Path) -> None:
    scan = scanned(named, made.kill_on_deadly)
    assert scan.tally.outcomes == {"ran": 7, "lost": 1}
    lost = next(row for row in scan if row.outcome == "lost")
    assert "killer" in lost.path


def test_an_engine_process_killed_from_outside_loses_nothing(folder: Path, local: Scan) -> None:
    killed = []

    def kill_one(tally: Any) -> None:
        if not killed and tally.done == 3:
            killed.append(_kill_an_engine_process())

    scan = outlive.scan(folder, run=True, jobs=2, cache=False, tell=kill_one)
    assert killed == [True]
    assert table(scan) == table(local)


def _kill_an_engine_process() -> bool:
    """Kill one of the processes that look at files."""
    for pid in _engine_children()[:1]:
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def test_who_is_told_may_fail_and_that_is_what_is_raised(named: Path, tmp_path: Path) -> None:
    def fail(tally: Any) -> None:
        if tally.done == 2:
            raise KeyError("a program of the user's")

    with pytest.raises(KeyError, match="of the user's"):
        scan_files(find_files([str(named)]), ScanOptions(), examine=made.only_named, jobs=2, tell=fail)
    assert _engine_children() == []


def test_processes_of_joblib_that_the_user_has_are_left_alone(folder: Path) -> None:
    from joblib import Parallel, delayed

    Parallel(n_jobs=2)(delayed(os.getpid)() for _ in range(2))
    theirs = scenes.children()
    outlive.scan(folder / "broken.tflite", cache=False)
    assert theirs <= scenes.children()
    assert _engine_children() == []


def test_a_scan_that_is_refused_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    busy = Journal(tmp_path / "rows.jsonl")
    with pytest.raises(JournalInUse, match="another scan"):
        outlive.scan(folder, output=tmp_path / "rows.jsonl")
    busy.close()
    assert _engine_children() == []


def test_nothing_is_left_behind(folder: Path, local: Scan) -> None:
    assert _engine_children() == []
    assert threading.active_count() < 20


def _engine_children() -> list[int]:
    """The processes of this one that look at files, or did."""
    children = [Path(f"/proc/{pid}/cmdline") for pid in scenes.children()]
    return [int(path.parent.name) for path in children if b"outlive.fleet.local_engine" in path.read_bytes()]


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ("spark://x", "unknown engine 'spark://x'; use local"),
        ("dask://", "has no host"),
        ("dask://host:port", "has no host"),
        ("dask://127.0.0.1:9", "no Dask scheduler answers"),
    ],
)
def test_engines_that_there_are_not(on: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_CONNECT_S", 1)
    pytest.importorskip("distributed", reason="pip install 'outlive[dask]' to scan on Dask")
    with pytest.raises(EngineError, match=words), open_engine(on):
        pass


def test_no_jobs_at_all() -> None:
    with pytest.raises(ValueError, match="jobs must be at least 1"), open_engine("local", 0):
        pass
