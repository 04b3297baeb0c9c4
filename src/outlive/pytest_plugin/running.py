"""The main session's side: a worker with a pytest session in it, and what becomes of a test there.

Runner.run ── a worker is there? if not: GuardedProcess, inside.open_session
           ── inside.collect (no limits) ── inside.run (the test's limits) ── spool ── reports
           ── a death: deaths.py makes the reports that are missing; the next test gets a new worker
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from outlive.errors import RunError
from outlive.pytest_plugin import deaths, inside
from outlive.pytest_plugin.settings import make_order, path_from_start
from outlive.pytest_plugin.spool import Spool, Told
from outlive.pytest_plugin.tracing import add_coverage
from outlive.pytest_plugin.wishes import Wish, wish_of
from outlive.verbs.guarded_process import CannotStart, GuardedProcess, Limits, NotBegun

# A worker that has grown by this much is replaced after the test.
_MOST_GROWTH_BYTES = 2_000_000_000
_REPORTING_BYTES = 64_000_000
# What finalizers may take that are left when a session ends early.
_CLOSING_S = 60.0
_ANYTHING = Limits()
_NOT_BEGUN = "the worker ended before it was given the test"


class Runner:
    """Runs tests in a worker, one after the other; a new one takes the place of one that died."""

    def __init__(self, config: pytest.Config) -> None:
        """Nothing is started yet."""
        self._config = config
        self._process: GuardedProcess | None = None
        self._spool: Spool | None = None
        self._numbers = itertools.count()
        self._places: dict[int, int] = {}

    def run(self, item: pytest.Item, nextitem: pytest.Item | None, wish: Wish) -> Iterator[Any]:
        """The reports of a test, from a worker or about its death."""
        if wish.fresh:
            self.close()
        following = None if wish.fresh else self._following(item, nextitem)
        told, complaint, death = self._try(item, following, wish)
        if complaint == _NOT_BEGUN or (death is not None and not told.has_begun):
            # The worker had ended before the test began: of something else, so that another one can have it.
            self._drop()
            told, complaint, death = self._try(item, following, wish)
        assert self._spool is not None
        yield from self._reports(item, told)
        if death is not None:
            yield from deaths.tell_death(item, death, told, self._spool.captured())
            self._drop()
        elif complaint:
            yield from deaths.tell_problem(item, complaint, has_started=self._process is not None)
        if wish.fresh or self._has_grown():
            self.close()

    def _try(self, item: pytest.Item, following: str | None, wish: Wish) -> tuple[Told, str, RunError | None]:
        """Run a test: what was told of it, what is wrong with it, and what it died of."""
        complaint, death = "", None
        try:
            process = self._ready(item)
            self._call(process, inside.collect, _ANYTHING, path_from_start(self._config, item.path))
            limits = Limits(memory=wish.memory, seconds=wish.seconds)
            # A test that reaches its limit gets MemoryError; to report that takes memory beyond it.
            process.leave_room(limits, _REPORTING_BYTES)
            complaint = self._call(process, inside.run, limits, item.nodeid, following)
        except RunError as error:
            death = error
        except MemoryError as error:
            complaint = f"the worker ran out of memory while it reported: {error}"
        except NotBegun:
            complaint = _NOT_BEGUN
        except deaths.CannotStart as error:
            complaint = str(error)
        assert self._spool is not None
        return self._spool.read(), complaint, death

    def close(self) -> None:
        """End the worker's session and the worker; what it cannot tear down is a warning."""
        process = self._process
        if process is None:
            return
        try:
            if not process.closed:
                self._call(process, inside.close_session, Limits(seconds=_CLOSING_S))
                self._add_coverage()
                process.retire()
        except Exception as error:
            said = str(error).partition("\n")[0]
            warnings.warn(
                pytest.PytestWarning(f"a worker could not tear down its fixtures: {said}"), stacklevel=2
            )
        finally:
            self._drop()

    def _ready(self, item: pytest.Item) -> GuardedProcess:
        """The worker, with a session."""
        if self._process is not None and self._process.is_alive:
            return self._process
        self._drop()
        self._spool = Spool(self._folder())
        try:
            self._process = process = GuardedProcess()
        except CannotStart as error:
            raise pytest.UsageError(f"no worker process can be had for {item.nodeid}: {error}") from error
        order = make_order(self._config, item.path, self._spool.folder)
        try:
            self._call(process, inside.open_session, _ANYTHING, order)
        except (RunError, KeyboardInterrupt):
            raise
        except BaseException as error:
            self._drop()
            raise deaths.CannotStart(f"{error.__cause__ or error}") from error
        return process

    def _folder(self) -> Path:
        """A folder of its own for each worker, where pytest keeps temporary folders."""
        factory = getattr(self._config, "_tmp_path_factory", None)
        if factory is None:
            return Path(tempfile.mkdtemp(prefix="outlive-"))
        folder = Path(factory.getbasetemp()) / f"outlive-{next(self._numbers)}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        return folder

    def _call(
        self, process: GuardedProcess, function: Callable[..., Any], limits: Limits, *words: Any
    ) -> Any:
        if self._spool is not None:
            self._spool.empty()
        # Only a test has something to say: pytest in a worker would repeat what was said here.
        return process.call(function, limits, *words, quiet=function is not inside.run)

    def _reports(self, item: pytest.Item, told: Told) -> Iterator[Any]:
        hook = self._config.hook
        for data in told.warnings:
            with contextlib.suppress(Exception):  # a warning less is no reason to stop
                hook.pytest_warning_recorded.call_historic(kwargs=deaths.rebuild_warning(data))
        self._add_coverage(told)
        for data in told.reports:
            report = hook.pytest_report_from_serializable(config=self._config, data=data)
            if report is not None:
                yield deaths.with_limit(report, wish_of(item))

    def _add_coverage(self, told: Told | None = None) -> None:
        assert self._spool is not None
        for data in (told or self._spool.read()).coverage:
            add_coverage(data)

    def _following(self, item: pytest.Item, nextitem: pytest.Item | None) -> str | None:
        """The next test that this worker will see, as far as that is known."""
        items = item.session.items
        if not self._places:
            self._places.update({id(one): place for place, one in enumerate(items)})
        place = self._places.get(id(item), len(items))
        in_order = nextitem is not None and items[place + 1 : place + 2] == [nextitem]
        if not in_order or hasattr(self._config, "workerinput"):
            return nextitem.nodeid if nextitem is not None and _is_shared(nextitem) else None
        return next((one.nodeid for one in items[place + 1 :] if _is_shared(one)), None)

    def _has_grown(self) -> bool:
        process = self._process
        return process is not None and process.grown_bytes > _MOST_GROWTH_BYTES

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()


def _is_shared(item: pytest.Item) -> bool:
    """True if a test runs in the worker that others use too."""
    wish = wish_of(item)
    return wish is not None and not wish.fresh
