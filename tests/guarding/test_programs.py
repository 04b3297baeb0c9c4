"""Programs around a guard: threads, forks, asyncio, guards in guards; and what a function finds there."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.guarding import guarded as guarding
from outlive.guarding import pool as guard_pool
from tests.deaths.restrictions import linux_only
from tests.guarding.scenes import play

pytestmark = linux_only


def test_threads_each_have_a_worker_of_their_own() -> None:
    def meet(folder: str, number: int) -> int:
        import time

        Path(folder, str(number)).touch()
        while len(os.listdir(folder)) < 3:
            time.sleep(0.01)
        return number

    import tempfile

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(3) as pool:
        guarded = outlive.guard(meet, seconds=300)
        assert sorted(pool.map(lambda number: guarded(folder, number), range(3))) == [0, 1, 2]


def test_many_calls_from_many_threads() -> None:
    double = outlive.guard(lambda x: x * 2)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: int(double(np.full(20_000, number))[-1]), range(60)))
    assert found == [2 * number for number in range(60)]


def test_asyncio() -> None:
    @outlive.guard
    async def later(x: int) -> int:
        await asyncio.sleep(0.01)
        return x + 1

    async def both() -> list[int]:
        return await asyncio.gather(later(1), later(2))

    assert asyncio.run(both()) == [2, 3]


def test_a_fork_of_the_caller_has_workers_and_results_of_its_own() -> None:
    done = play(
        """
        import numpy as np
        pid = outlive.guard(os.getpid)
        mine = pid()
        kept = outlive.guard(np.ones)(100_000)
        child = os.fork()
        if not child:
            kept[:] = 7
            good = pid() != mine and outlive.guard(np.ones)(100_000).sum() == 100_000
            os._exit(0 if good and kept.sum() == 700_000 else 1)
        status = os.waitpid(child, 0)[1]
        print(status, kept.sum(), pid() == mine)
        """
    )
    assert done.stdout.split() == ["0", "100000.0", "True"]


def test_a_pool_of_processes_that_use_guards() -> None:
    done = play(
        """
        import multiprocessing
        def work(x):
            return outlive.guard(lambda x: x + 1)(x)
        outlive.guard(abs)(1)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(work, range(4)))
        """
    )
    assert done.stdout.strip() == "[1, 2, 3, 4]"


def test_a_guard_inside_a_guard() -> None:
    def outer() -> tuple[int, int, str]:
        inner = outlive.guard(os.getpid)()
        try:
            outlive.guard(os.abort)()
        except outlive.ModelDied as error:
            return os.getpid(), inner, error.finding.code
        return 0, 0, ""

    first, second, code = outlive.guard(outer)()
    assert len({os.getpid(), first, second}) == 3
    assert code == "D505"


def test_environment_folder_and_path_are_the_callers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "only_here.py").write_text("VALUE = 42\n")

    def look() -> tuple[str | None, str, int | None, list[str]]:
        try:
            import only_here  # type: ignore[import-not-found]
        except ImportError:
            return os.environ.get("ONLY_HERE"), os.getcwd(), None, sys.argv
        return os.environ.get("ONLY_HERE"), os.getcwd(), only_here.VALUE, sys.argv

    looking = outlive.guard(look)
    assert looking() == (None, os.getcwd(), None, sys.argv)
    monkeypatch.setenv("ONLY_HERE", "é1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert looking() == ("é1", str(tmp_path), 42, sys.argv)
    monkeypatch.delenv("ONLY_HERE")
    assert looking()[0] is None


def test_a_folder_that_is_gone_is_gone_for_the_function_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def write() -> None:
        with open("relative", "w") as file:
            file.write("x")

    (tmp_path / "leaving").mkdir()
    writing = outlive.guard(write)
    monkeypatch.chdir(tmp_path / "leaving")
    writing()
    (tmp_path / "leaving" / "relative").unlink()
    (tmp_path / "leaving").rmdir()
    with pytest.raises(FileNotFoundError):
        writing()
    with pytest.raises(FileNotFoundError):
        outlive.guard(os.getcwd, fresh=True)()
    monkeypatch.chdir(tmp_path)
    assert outlive.guard(os.getcwd)() == str(tmp_path)


def test_a_call_does_not_wait_for_a_library_that_it_does_not_need(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    released, tired = tmp_path / "released", tmp_path / "tired"
    (tmp_path / "slow_library.py").write_text(
        f"import os, time\nend = time.monotonic() + 20\n"
        f"while not os.path.exists({str(released)!r}) and time.monotonic() < end: time.sleep(0.02)\n"
        f"if time.monotonic() >= end: open({str(tired)!r}, 'w').close()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(guard_pool, "TENSORFLOW", "slow_library")
    pool = guard_pool.Pool()
    monkeypatch.setattr(guarding, "pool", pool)
    pool.warm(tensorflow=True)
    with_library = pool.take(fresh=False, tensorflow=True, known=0)
    pool.give(with_library)
    try:
        for _ in range(3):
            assert outlive.guard(os.getpid)() != with_library.pid
        assert not tired.exists()
        released.touch()
        needs_it = outlive.guard(lambda: (os.getpid(), "slow_library" in sys.modules))
        needs_it._tensorflow = True
        assert needs_it() == (with_library.pid, True)
    finally:
        pool.close()


@pytest.mark.parametrize("fresh", [False, True])
def test_random_numbers_go_on_as_if_the_function_ran_here(fresh: bool) -> None:
    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), random.gauss(0, 1)

    def both() -> list[object]:
        random.seed(7)
        np.random.seed(7)
        return [draw(), draw(), random.random(), float(np.random.rand()), draw()]

    plain = both()
    guarded = outlive.guard(draw, fresh=fresh)
    random.seed(7)
    np.random.seed(7)
    assert [guarded(), guarded(), random.random(), float(np.random.rand()), guarded()] == plain


def test_functions_defined_in_the_main_program() -> None:
    done = play(
        """
        from dataclasses import dataclass
        @dataclass
        class Point:
            x: int
        SCALE = 2
        def grow(point):
            return Point(point.x * SCALE)
        grown = outlive.guard(grow)
        print(grown(Point(2)) == Point(4), isinstance(grown(Point(2)), Point))
        SCALE = 10
        print(grown(Point(2)).x)
        """
    )
    assert done.stdout.split() == ["True", "True", "20"]


def test_the_caller_loads_nothing_for_it() -> None:
    done = play(
        """
        def use():
            import decimal, sqlite3
            return sqlite3.sqlite_version
        assert outlive.guard(use)()
        print("sqlite3" in sys.modules)
        """
    )
    assert done.stdout.strip() == "False"


def test_a_system_that_cannot_fork() -> None:
    done = play(
        """
        from outlive.process import factories
        factories.can_fork = lambda kind: False
        print(outlive.guard(lambda x: x + 1)(1))
        try:
            outlive.guard(os.abort)()
        except outlive.ModelDied as error:
            print(error.flight.signal)
        try:
            outlive.guard(time.sleep, seconds=0.3)(1000)
        except outlive.LimitReached as error:
            print(error.flight.ended_by)
        """
    )
    assert done.stdout.split() == ["2", "SIGABRT", "deadline"]


def test_a_function_that_changes_its_surroundings_does_not_spoil_the_next_call() -> None:
    def spoil() -> int:
        os.chdir("/")
        os.environ["SPOILED"] = "1"
        del os.environ["PATH"]
        sys.path.clear()
        return os.getpid()

    def look() -> tuple[int, str, bool, bool, int]:
        return os.getpid(), os.getcwd(), "SPOILED" in os.environ, "PATH" in os.environ, len(sys.path)

    pid = outlive.guard(spoil)()
    assert outlive.guard(look)() == (pid, os.getcwd(), False, True, len(sys.path))


def test_more_functions_than_a_worker_keeps() -> None:
    guards = [outlive.guard(eval(f"lambda x: x + {number}")) for number in range(70)]
    assert [guarded(0) for guarded in guards] == list(range(70))
    assert [guarded(0) for guarded in reversed(guards)] == list(range(69, -1, -1))


def test_a_worker_that_is_replaced_says_farewell(tmp_path: Path) -> None:
    def register(path: str) -> None:
        import atexit

        atexit.register(Path(path).touch)

    outlive.guard(register, fresh=True)(str(tmp_path / "farewell"))
    end = time.monotonic() + 300
    while not (tmp_path / "farewell").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert (tmp_path / "farewell").exists()
