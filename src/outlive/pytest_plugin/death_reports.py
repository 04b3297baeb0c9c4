"""A test that died, as pytest reports failures: the finding, what it had printed, and where it was."""

import re
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest

from outlive.errors import RunError
from outlive.pytest_plugin.markers import GuardOptions
from outlive.pytest_plugin.worker_session import RecordedTest
from outlive.verbs.judging import JUDGE

Phase = Literal["setup", "call", "teardown"]
_TAIL_BYTES = 8192
# faulthandler's line for a frame: `  File "/a/test_b.py", line 7 in test_c`.
_FRAME = re.compile(r'^  File "(?P<path>[^"]+)", line (?P<line>\d+) in ', re.MULTILINE)
_MACHINERY = re.compile(r"[/\\](_pytest|unittest)[/\\]")
_MOST_FRAMES = 60


class NotRun(Exception):
    """A test that a worker could not run."""


class SessionNotStarted(Exception):
    """A worker in which no pytest session can be started; the text is what it said."""


def death_reports(
    item: pytest.Item, death: RunError, recorded: RecordedTest, captured: Mapping[str, str]
) -> Iterator[pytest.TestReport]:
    """The reports that the worker could not write any more."""
    death = _with_output(death, captured)
    phase: Phase = recorded.phase  # type: ignore[assignment]
    report = _failed(item, death, phase, str(death), time.time() - recorded.began)
    report.sections += [(f"Captured {name} {phase}", text) for name, text in captured.items() if text.strip()]
    stack = _own_frames(getattr(death.flight, "fault_trace", ""))
    if stack:
        report.sections.append(("Python stack at the end", stack))
    report.user_properties.append(("outlive", death.finding.code))
    yield report
    if phase != "teardown":
        yield _passed(item, "teardown")


def problem_reports(item: pytest.Item, complaint: str, *, has_started: bool) -> Iterator[pytest.TestReport]:
    """The reports of a test that could not be run: a worker did not find it, or could not start at all."""
    if has_started:
        text = (
            f"{item.nodeid} was not found when its file was collected again in a worker: {complaint}\n"
            "A guarded test must have the same name each time: give parameters fixed ids and a fixed order "
            "(a set has none), or mark the test outlive(off=True)."
        )
    else:
        text = (
            "a worker could not start a pytest session like this one; --no-outlive runs the tests without "
            f"workers. Output:{complaint}"
        )
    yield _failed(item, NotRun(text), "setup", text, 0.0)
    yield _passed(item, "teardown")


def with_limit(report: Any, options: GuardOptions | None) -> Any:
    """The report; one about memory says what was allowed."""
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    if (
        options is not None
        and options.memory is not None
        and "MemoryError" in str(getattr(crash, "message", ""))
    ):
        report.sections.append(
            ("outlive", f"the test may add {options.memory} to what its worker holds (memory=)")
        )
    return report


def rebuild_warning(data: Mapping[str, Any]) -> dict[str, Any]:
    """A warning of a worker, as pytest records one."""
    room, name = data["category"]
    found = getattr(sys.modules.get(room), name, Warning)
    kind = found if isinstance(found, type) and issubclass(found, Warning) else Warning
    try:
        text: Warning | str = kind(data["text"])
    except Exception:  # one that wants other arguments
        text, kind = Warning(data["text"]), Warning
    made = warnings.WarningMessage(text, kind, data["filename"], data["lineno"])
    place = data["location"]
    return {
        "warning_message": made,
        "when": data["when"],
        "nodeid": data["nodeid"],
        "location": None if place is None else tuple(place),
    }


def _with_output(death: RunError, captured: Mapping[str, str]) -> RunError:
    """The death, judged with what the test had printed to standard error: pytest had captured it."""
    errors = captured.get("stderr", "")
    if not errors or death.flight is None:
        return death
    flight = replace(death.flight, stderr_tail=(errors + death.flight.stderr_tail)[-_TAIL_BYTES:])
    return JUDGE.died(flight)


def _failed(
    item: pytest.Item, error: Exception, phase: Phase, text: str, seconds: float
) -> pytest.TestReport:
    """A report of a failure, or of an expected one, with the text in the place of a traceback."""

    def fail() -> None:
        raise error

    call = pytest.CallInfo.from_call(fail, when=phase)
    call.start, call.duration = call.stop - seconds, seconds
    # Not by the hook: plugins that listen to it have seen nothing of this test.
    report = pytest.TestReport.from_item_and_call(item, call)
    assert call.excinfo is not None
    # The native form is shown as it is; others would be coloured as Python code.
    drawn: Any = call.excinfo.getrepr(style="native")
    drawn.reprtraceback.reprentries[0].lines = [f"{text}\n"]
    drawn.reprcrash.path, drawn.reprcrash.lineno = _place(item, error)
    drawn.reprcrash.message = text.partition("\n")[0]
    report.longrepr = drawn
    if phase != "teardown":
        _expect(item, error, report)
    return report


def _passed(item: pytest.Item, phase: Phase) -> pytest.TestReport:
    call = pytest.CallInfo.from_call(lambda: None, when=phase)
    return pytest.TestReport.from_item_and_call(item, call)


def _expect(item: pytest.Item, error: Exception, report: pytest.TestReport) -> None:
    """A failure that a mark of the test expects is reported as such, as pytest's own skipping.py does."""
    try:
        from _pytest.skipping import evaluate_xfail_marks
    except ImportError:  # another pytest: an expected death is reported as any other
        return
    expected: Any = None if item.config.getoption("runxfail", False) else evaluate_xfail_marks(item)
    if expected is not None and (expected.raises is None or _is_one_of(error, expected.raises)):
        report.outcome = "skipped"
        report.wasxfail = expected.reason


def _is_one_of(error: Exception, wanted: Any) -> bool:
    """True for an exception that a mark names, by its type or as pytest 8.4 does, by `pytest.RaisesExc`."""
    return bool(wanted.matches(error)) if hasattr(wanted, "matches") else isinstance(error, wanted)


def _own_frames(trace: str) -> str:
    """The stacks of a dead worker's threads, innermost first, each up to where pytest called the test."""
    shown: list[str] = []
    is_below = False  # from the first frame of pytest on there is nothing of the user's
    for line in trace.splitlines():
        frame = _FRAME.match(line)
        if frame is None or not is_below:
            is_below = frame is not None and _MACHINERY.search(frame["path"]) is not None
            if not is_below and not line.startswith("Extension modules:"):
                shown.append(line)
    return "\n".join(shown[:_MOST_FRAMES]).rstrip()


def _place(item: pytest.Item, error: Exception) -> tuple[str, int]:
    """Where the test was, by the stack of the dead worker; else where it begins."""
    trace = getattr(getattr(error, "flight", None), "fault_trace", "")
    for match in _FRAME.finditer(trace):
        if match["path"] == str(item.path):
            return match["path"], int(match["line"])
    return str(item.path), (item.location[1] or 0) + 1
