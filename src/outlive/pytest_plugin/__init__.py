"""CAN A TEST TAKE THE SESSION WITH IT? Not one that runs in a worker: a marker, options and fixtures.

    main session ── pytest_runtest_protocol ── WorkerRunner ──> a guarded worker ── WorkerSession
         ^                                                             │ fixtures, test, teardown
         └──── reports, warnings, coverage <── a file of reports <──────┘
         └──── a death: death_reports writes the report that the worker could not

The worker has a pytest session of its own, so that fixtures, captured output, monkeypatches, subtests and
plugins are where the test is. pytest loads this module in every run, so it must cost nothing: what it needs
is imported when the first guarded test runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from outlive.pytest_plugin.markers import MARKER, check_session, guard_options, pytest_addoption

if TYPE_CHECKING:
    from outlive.verbs.interpreter import Interpreter
    from outlive.verbs.plan import Verdict

__all__ = ["assert_fits", "assert_no_leak", "guarded_interpreter", "pytest_addoption"]

_runner = pytest.StashKey[Any]()


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
    return True if not _is_inside(item.config) and guard_options(item) is not None else None


pytest_timeout_cancel_timer = pytest_timeout_set_timer


def _is_inside(config: pytest.Config) -> bool:
    """True in the session of a worker."""
    return config.pluginmanager.has_plugin("outlive-teller")


@pytest.fixture
def guarded_interpreter() -> Iterator[Callable[..., Interpreter]]:
    """Makes interpreters whose model runs in a worker, and closes them at the end of the test.

    `guarded_interpreter("m.tflite", memory="64MB")`: a path or the bytes of a model, and whatever
    `outlive.Interpreter` takes.
    """
    from outlive.verbs.interpreter import Interpreter

    with contextlib.ExitStack() as made:

        def make(model: Any = None, **options: Any) -> Interpreter:
            if isinstance(model, (bytes, bytearray, memoryview)):
                options["model_content"] = bytes(model)
            elif model is not None:
                options["model_path"] = model
            return made.enter_context(Interpreter(**options))

        yield make


@pytest.fixture
def assert_fits() -> Callable[..., Verdict]:
    """Fails the test if a model does not fit: `assert_fits("m.tflite", device="raspberry-pi-pico")`.

    Or with `ram="64MB"`; `accelerator` is what it will run on. The verdict comes back, with its margin.
    """

    return _check_fit


def _check_fit(
    model: Any, *, device: Any = None, ram: str | int | None = None, accelerator: str | None = None
) -> Verdict:
    __tracebackhide__ = True
    from outlive.errors import ModelError
    from outlive.rendering.finding_text import plain_finding
    from outlive.verbs.plan import plan

    if device is None and ram is None:
        raise TypeError("assert_fits needs device= or ram=: what is the model to fit?")
    try:
        found = plan(model, accelerator, device=device, ram=ram)
    except ModelError as error:  # a file that cannot be trusted has no plan
        raise AssertionError("\n".join(map(plain_finding, error.findings))) from None
    verdict = found.verdict
    assert verdict is not None, "a plan for a device or a size has a verdict"
    if not verdict.fits:
        text = "\n".join(map(plain_finding, found.findings))
        raise AssertionError(text or "; ".join(verdict.reasons))
    return verdict


@pytest.fixture
def assert_no_leak() -> Callable[..., Any]:
    """Fails the test if something grows when it is repeated: `assert_no_leak(function)`, or a model.

    Takes whatever `outlive.leak` takes; a verdict that is not clear in the time there is fails as well,
    unless `unclear=True`. The growth comes back.
    """

    return _check_leak


def _check_leak(function_or_model: Any, *, unclear: bool = False, **options: Any) -> Any:
    __tracebackhide__ = True
    from outlive.rendering.finding_text import plain_finding
    from outlive.verbs.leak import leak

    growth = leak(function_or_model, **options)
    if growth.verdict != "no leak" and not (unclear and growth.verdict == "not enough evidence"):
        raise AssertionError("\n".join((f"{growth}", *map(plain_finding, growth.findings))))
    return growth
