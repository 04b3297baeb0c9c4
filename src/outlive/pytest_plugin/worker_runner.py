"""The main session's side: a worker with a pytest session in it, and what becomes of a test there.

Runner.run ── a worker is there? if not: GuardedProcess, worker_session.open_session
           ── worker_session.collect (no limits), run (the test's limits) ── report_log ── reports
           ── a death: death_reports.py makes the reports that are missing; the next test gets a new worker
"""

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
from outlive.pytest_plugin import death_reports, worker_session
from outlive.pytest_plugin.markers import GuardOptions, guard_options
from outlive.pytest_plugin.session_options import make_session_config, path_from_start
from outlive.pytest_plugin.worker_coverage import add_coverage
from outlive.pytest_plugin.worker_session import RecordedTest, ReportLog
from outlive.verbs.guarded_process import CannotStartWorker, GuardedProcess, Limits, NotBegun

# A worker that has grown by this much is replaced after the test.
_MOST_GROWTH_BYTES = 2_000_000_000
_REPORTING_BYTES = 64_000_000
# What finalizers may take that are left when a session ends early.
_CLOSING_S = 60.0
_ANYTHING = Limits()
_NOT_BEGUN = "the worker ended before it was given the test"


class WorkerRunner:
    """Runs tests in a worker, one after the other; a new one takes the place of one that died."""

    def __init__(self, config: pytest.Config) -> None:
        """Nothing is started yet."""
        self._config = config
        self._process: GuardedProcess | None = None
        self._log: ReportLog | None = None
        self._numbers = itertools.count()
        self._places: dict[int, int] = {}

    def run(self, item: pytest.Item, nextitem: pytest.Item | None, options: GuardOptions) -> Iterator[Any]:
        """The reports of a test, from a worker or about its death."""
        if options.fresh:
            self.close()
        following = None if options.fresh else self._following(item, nextitem)
        recorded, complaint, death = self._try(item, following, options)
        if complaint == _NOT_BEGUN or (death is not None and not recorded.has_begun):
            # The worker had ended before the test began: of something else, so that another one can have it.
            self._drop()
            recorded, complaint, death = self._try(item, following, options)
        assert self._log is not None
        yield from self._reports(item, recorded)
        if death is not None:
            yield from death_reports.death_reports(item, death, recorded, self._log.captured())
            self._drop()
        elif complaint:
            yield from death_reports.problem_reports(item, complaint, has_started=self._process is not None)
        grown_bytes = 0 if self._process is None else self._process.grown_bytes
        if options.fresh or grown_bytes > _MOST_GROWTH_BYTES:
            self.close()

    def _try(
        self, item: pytest.Item, following: str | None, options: GuardOptions
    ) -> tuple[RecordedTest, str, RunError | None]:
        """Run a test: what was recorded of it, what is wrong with it, and what it died of."""
        complaint, death = "", None
        try:
            process = self._ready(item)
            self._call(process, worker_session.collect, _ANYTHING, path_from_start(self._config, item.path))
            limits = Limits(memory=options.memory, seconds=options.seconds)
            # A test that reaches its limit gets MemoryError; to report that takes memory beyond it.
            process.leave_room(limits, _REPORTING_BYTES)
            complaint = self._call(process, worker_session.run, limits, item.nodeid, following)
        except RunError as error:
            death = error
        except MemoryError as error:
            complaint = f"the worker ran out of memory while it reported: {error}"
        except NotBegun:
            complaint = _NOT_BEGUN
        except death_reports.SessionNotStarted as error:
            complaint = str(error)
        assert self._log is not None
        return self._log.read(), complaint, death

    def close(self) -> None:
        """End the worker's session and the worker; what it cannot tear down is a warning."""
        process = self._process
        if process is None:
            return
        try:
            if not process.closed:
                self._call(process, worker_session.close_session, Limits(seconds=_CLOSING_S))
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
        self._log = ReportLog(self._folder())
        try:
            self._process = process = GuardedProcess()
        except CannotStartWorker as error:
            raise pytest.UsageError(f"no worker process is available for {item.nodeid}: {error}") from error
        order = make_session_config(self._config, item.path, self._log.folder)
        try:
            self._call(process, worker_session.open_session, _ANYTHING, order)
        except (RunError, KeyboardInterrupt):
            raise
        except BaseException as error:
            self._drop()
            raise death_reports.SessionNotStarted(f"{error.__cause__ or error}") from error
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
        if self._log is not None:
            self._log.empty()
        # Only a test has something to say: pytest in a worker would repeat what was said here.
        return process.call(function, limits, *words, quiet=function is not worker_session.run)

    def _reports(self, item: pytest.Item, recorded: RecordedTest) -> Iterator[Any]:
        hook = self._config.hook
        for data in recorded.warnings:
            with contextlib.suppress(Exception):  # a warning less is no reason to stop
                hook.pytest_warning_recorded.call_historic(kwargs=death_reports.rebuild_warning(data))
        self._add_coverage(recorded)
        for data in recorded.reports:
            report = hook.pytest_report_from_serializable(config=self._config, data=data)
            if report is not None:
                yield death_reports.with_limit(report, guard_options(item))

    def _add_coverage(self, recorded: RecordedTest | None = None) -> None:
        assert self._log is not None
        for data in (recorded or self._log.read()).coverage:
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

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()


def _is_shared(item: pytest.Item) -> bool:
    """True if a test runs in the worker that others use too."""
    options = guard_options(item)
    return options is not None and not options.fresh
