"""The worker's side: a pytest session of its own, which collects a file when it is needed and runs one test.

    open_session ── Config with the options of the main session ── Session
    collect      ── the tests of one file, by their names
    run          ── pytest_runtest_protocol: fixtures, test, teardown; Teller writes each report to a file
    close_session── what is still set up is torn down

What is reported lies in a file that the main session can read when this process is gone.

What a worker's session tells: a file of small records, which can be read when the worker is gone.

Only plain values are written and read: text, numbers, lists, tuples and dictionaries of them.
"""

import atexit
import contextlib
import importlib
import io
import itertools
import os
import pickle
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import pytest

from outlive.pytest_plugin.worker_coverage import WorkerCoverage
from outlive.system_features import without_data_limit

# The files that a session captures output in, in the order pytest opens them.
CAPTURED = ("stdout", "stderr")
_NAME, _TERMINAL = "told", "terminal"
_PLAIN = (str, int, float, bool, bytes, type(None))
_LEAST_LINES = 2
# The last of what a dead test had printed.
_MOST_CAPTURED_BYTES = 1 << 16


def open_terminal(folder: str) -> TextIO:
    """The file that stands for a worker's terminal."""
    path = os.path.join(folder, _TERMINAL)
    return open(path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)


class ReportWriter:
    """The worker's end."""

    def __init__(self, folder: str) -> None:
        """Nothing has happened."""
        # Appending, because the reader empties it; open as long as we live.
        self._file = open(os.path.join(folder, _NAME), "ab", buffering=0)  # noqa: SIM115

    def write(self, kind: str, *values: Any) -> None:
        """Append a record: a phase that begins, a report, a warning, or coverage data."""
        self._file.write(pickle.dumps((kind, *map(plain, values)), 5))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTest:
    """What was told of one test: reports and warnings in their order, and the phase that was never ended.

    `has_begun` is false if not even the first phase was told.
    """

    reports: tuple[dict[str, Any], ...]
    warnings: tuple[dict[str, Any], ...]
    coverage: tuple[bytes, ...]
    phase: str
    began: float
    has_begun: bool


class ReportLog:
    """The main session's end: a folder of its own for each worker."""

    def __init__(self, folder: Path) -> None:
        """The folder is there, and empty."""
        self.folder = folder

    def empty(self) -> None:
        """Forget all records: those from now on belong to another test."""
        for name in (_NAME, _TERMINAL):
            with contextlib.suppress(FileNotFoundError):
                os.truncate(self.folder / name, 0)

    def read(self) -> RecordedTest:
        """All that was told; a record that was cut off by a death is left out."""
        rows = list(_records(self.folder / _NAME))
        reports = [row[1] for row in rows if row[0] == "report"]
        begun = [row for row in rows if row[0] == "phase"]
        # A subtest has a report of its own, and is no phase.
        ended = {report.get("when") for report in reports if report.get("$report_type") == "TestReport"}
        phase, began = (begun[-1][1], begun[-1][2]) if begun else ("setup", time.time())
        return RecordedTest(
            reports=tuple(reports),
            warnings=tuple(row[1] for row in rows if row[0] == "warning"),
            coverage=tuple(row[1] for row in rows if row[0] == "coverage"),
            phase=phase if phase not in ended else _after(phase),
            began=began,
            has_begun=bool(begun),
        )

    def captured(self) -> dict[str, str]:
        """What the phase that never ended had printed, by stream."""
        found = {name: text for name in CAPTURED if (text := _tail(self.folder / name))}
        # A line or two are the reporter's dots; a plugin that ends the process says more.
        terminal = _tail(self.folder / _TERMINAL).strip()
        return found if terminal.count("\n") < _LEAST_LINES else {**found, _TERMINAL: terminal}


def _after(phase: str) -> str:
    """A death between two phases is the next one's."""
    return {"setup": "call", "call": "teardown"}.get(phase, "teardown")


def _records(path: Path) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    try:
        file = io.BytesIO(path.read_bytes())
    except OSError:
        return rows
    while True:
        try:
            rows.append(_PlainUnpickler(file).load())
        except Exception:  # its end, or a record that was never finished
            return rows


class _PlainUnpickler(pickle.Unpickler):
    """Makes nothing but plain values."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_CAPTURED_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def plain(value: Any) -> Any:
    """The value with everything that is not plain told as text."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else repr(value)


# Plugins that would write the main session's files, or choose among tests that were chosen already.
_UNWANTED = ("lfplugin", "nfplugin", "stepwiseplugin")
# It would send the stack of a crash to the test's captured output; ours goes where the record is made.
_REPLACED = "faulthandler"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """What a worker's session is made of; it travels to the worker."""

    options: dict[str, Any]
    arguments: list[str]
    start: str
    workerinput: dict[str, Any]
    folder: str
    coverage: dict[str, Any] | None = None
    objects: dict[str, bytes] = field(default_factory=dict)  # options that are no plain values, pickled


class _Elsewhere(pytest.Item):
    """Stands for the next test when that is in another file: only what is shared by all files is kept."""

    def runtest(self) -> None:
        raise AssertionError("this test stands for another one")


class ReportRecorder:
    """Writes down what happens to a test, as it happens."""

    def __init__(self, config: pytest.Config, log: ReportWriter, coverage: WorkerCoverage) -> None:
        """Write to this file."""
        self._config, self._log, self._coverage = config, log, coverage
        self.complaints: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """The first phase begins."""
        self._begin(item, "setup")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """The test itself begins."""
        self._begin(item, "call")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """The last phase begins."""
        self._begin(item, "teardown")

    def _begin(self, item: pytest.Item, phase: str) -> None:
        self._log.write("phase", phase, time.time())
        self._coverage.name(f"{item.nodeid}|{'run' if phase == 'call' else phase}")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[Any]:
        """To say what went wrong takes memory too, and the test may have used up what it may."""
        with without_data_limit() if call.excinfo is not None else contextlib.nullcontext():
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase, or a subtest, has ended."""
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._log.write("report", data)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the error of a file that could not be collected for its tests."""
        if report.failed:
            self.complaints.append(str(report.longrepr))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        """The main session lists warnings."""
        kind = warning_message.category
        self._log.write(
            "warning",
            {
                "text": str(warning_message.message),
                "category": (kind.__module__, kind.__qualname__),
                "filename": warning_message.filename,
                "lineno": warning_message.lineno,
                "when": when,
                "nodeid": nodeid,
                "location": location,
            },
        )


@dataclass(slots=True)
class _ProcessState:
    """Environment, folder and path as this session has them: between two calls a worker gets its caller's."""

    environment: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    path: list[str] = field(default_factory=list)

    def keep(self) -> None:
        self.environment, self.path = dict(os.environ), list(sys.path)
        with contextlib.suppress(OSError):  # the folder is gone
            self.folder = os.getcwd()

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Restore what the session had, and keep what it has at the end."""
        if dict(os.environ) != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        with contextlib.suppress(OSError):
            os.chdir(self.folder)
        sys.path[:] = self.path
        try:
            yield
        finally:
            self.keep()


class WorkerSession:
    """A pytest session that runs single tests on request."""

    def __init__(self, order: SessionConfig) -> None:
        """Configure pytest as the main session is, and start."""
        self._log = ReportWriter(order.folder)
        self._coverage = WorkerCoverage(order.coverage)
        self._items: dict[str, pytest.Item] = {}
        self._files: set[str] = set()
        with _kept_captures(order.folder):
            config: Any = pytest.Config.fromdictargs(order.options, list(order.arguments))
        self._config = config
        _add_objects(config, order.objects)
        config.workerinput, config.workeroutput = order.workerinput, {}
        config.pluginmanager.unregister(name=_REPLACED)
        self._teller = ReportRecorder(config, self._log, self._coverage)
        config.pluginmanager.register(self._teller, "outlive-teller")
        self._session = pytest.Session.from_config(config)
        # People read the main session's terminal; what plugins write to ours is kept for a death.
        with contextlib.redirect_stdout(open_terminal(order.folder)):
            config._do_configure()
        for name in _UNWANTED:
            if config.pluginmanager.has_plugin(name):
                config.pluginmanager.unregister(name=name)
        config.hook.pytest_sessionstart(session=self._session)
        self._elsewhere = _Elsewhere.from_parent(self._session, name="a test of another file")

    def collect(self, path: str) -> None:
        """Find the tests of a file, once."""
        if path in self._files:
            return
        self._files.add(path)
        try:
            for item in self._session.perform_collect([path]):
                self._items.setdefault(item.nodeid, item)
        except pytest.UsageError as error:
            self._teller.complaints.append(str(error))

    def run(self, name: str, following: str | None) -> str:
        """Run a test; what is wrong in words, if there is none of that name."""
        item = self._items.get(name)
        if item is None:
            return "\n".join(self._teller.complaints) or "there is no test of that name"
        after = None if following is None else self._items.get(following, self._elsewhere)
        self._config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        self._write_coverage()
        return ""

    def close(self) -> None:
        """Tear down what is still set up."""
        try:
            self._config.hook.pytest_sessionfinish(session=self._session, exitstatus=0)
        finally:
            self._config._ensure_unconfigure()
            self._write_coverage()

    def _write_coverage(self) -> None:
        measured = self._coverage.take()
        if measured:
            self._log.write("coverage", measured)


def _add_objects(config: Any, objects: dict[str, bytes]) -> None:
    """Set options to values of classes that a conftest may define: by now it is loaded."""
    for name, data in objects.items():
        try:
            setattr(config.option, name, pickle.loads(data))  # the main session made them
        except Exception as error:
            raise pytest.UsageError(
                f"the value of the option {name!r} does not reach a worker: {error}"
            ) from error


@contextlib.contextmanager
def _kept_captures(folder: str) -> Iterator[None]:
    """Let the session capture output into files that outlive it, where pytest does so as we know it."""
    capture: Any = importlib.import_module("_pytest.capture")
    usual = getattr(capture, "TemporaryFile", None)
    if usual is None:
        yield
        return
    names = itertools.chain(CAPTURED)

    def kept(**options: Any) -> Any:
        name = next(names, None)
        return usual(**options) if name is None else open(os.path.join(folder, name), "w+b", **options)

    capture.TemporaryFile = kept
    try:
        yield
    finally:
        capture.TemporaryFile = usual


_open: list[WorkerSession] = []
_places = _ProcessState()


def open_session(order: SessionConfig) -> None:
    """Start the session of this worker."""
    for name in ("outlive", "outlive.pytest_plugin"):
        # They are loaded already, too late for pytest to rewrite their assertions; it need not mention it.
        sys.modules[name].__doc__ = f"{sys.modules[name].__doc__} PYTEST_DONT_REWRITE"
    os.chdir(order.start)
    _open[:] = [WorkerSession(order)]
    atexit.register(_close_forgotten)
    _places.keep()


def collect(path: str) -> None:
    """Find the tests of a file."""
    with _places.restored():
        _open[0].collect(path)


def run(name: str, following: str | None) -> str:
    """Run a test; empty, or why there was none to run."""
    with _places.restored():
        return _open[0].run(name, following)


def close_session() -> None:
    """End the session of this worker."""
    with _places.restored():
        _open.pop().close()


def _close_forgotten() -> None:
    """A worker that was not called for long ends by itself; its fixtures are torn down all the same."""
    if _open:
        close_session()
