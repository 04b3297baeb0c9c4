"""CAN A TEST TAKE THE SESSION WITH IT? Not one that runs in a worker: a marker, options and fixtures.

    main session ── pytest_runtest_protocol ── running.Runner ──> a guarded worker ── inside.WorkerSession
         ^                                                             │ fixtures, test, teardown
         └──── reports, warnings, coverage <── spool: a file <─────────┘
         └──── a death: deaths.py writes the report that the worker could not

The worker has a pytest session of its own, so that fixtures, captured output, monkeypatches, subtests and
plugins are where the test is. pytest loads this module in every run, so it must cost nothing: what it needs
is imported when the first guarded test runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from outlive.pytest_plugin.fixtures import assert_fits, assert_no_leak, guarded_interpreter
from outlive.pytest_plugin.markers import MARKER, add_options, check_session, guard_options

__all__ = ["assert_fits", "assert_no_leak", "guarded_interpreter"]

_runner = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--outlive` and its settings."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """The marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is wrong with a marker is said before anything runs."""
    if not _is_inside(config):
        check_session(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a guarded test in a worker; leave all others to pytest."""
    options = None if _is_inside(item.config) else guard_options(item)
    if options is None:
        return None
    if _runner not in item.config.stash:
        from outlive.pytest_plugin.worker_runner import WorkerRunner

        item.config.stash[_runner] = WorkerRunner(item.config)
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in item.config.stash[_runner].run(item, nextitem, options):
        hook.pytest_runtest_logreport(report=report)
    _leave(item, nextitem)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _leave(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Tear down what tests before this one left set up for it in this process."""
    state: Any = getattr(item.session, "_setupstate", None)
    call = pytest.CallInfo.from_call(lambda: state and state.teardown_exact(nextitem), when="teardown")
    if call.excinfo is not None:
        report = pytest.TestReport.from_item_and_call(item, call)
        item.ihook.pytest_runtest_logreport(report=report)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[Any]:
    """When the last test has run, or the session stops, the worker tears down what it has left."""
    try:
        return (yield)
    finally:
        runner = session.config.stash.get(_runner, None)
        if runner is not None:
            runner.close()


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item) -> bool | None:
    """pytest-timeout keeps its time where the test runs; two clocks would race."""
    return True if _is_elsewhere(item) else None


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> bool | None:
    """There is none here."""
    return True if _is_elsewhere(item) else None


def _is_elsewhere(item: pytest.Item) -> bool:
    return not _is_inside(item.config) and guard_options(item) is not None


def _is_inside(config: pytest.Config) -> bool:
    """True in the session of a worker."""
    return config.pluginmanager.has_plugin("outlive-teller")
