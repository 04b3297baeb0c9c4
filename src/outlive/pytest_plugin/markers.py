"""What a test asks for: the marker nearest to it, then those around it, then the options of the session."""

from dataclasses import dataclass
from typing import Any

import pytest

_KEYS = ("memory", "seconds", "fresh", "off")
MARKER = (
    "outlive(memory=None, seconds=None, fresh=False, off=False): run the test, with its fixtures, in a "
    "worker that may crash, hang or run out of memory; `memory` is what it may add there, `seconds` what it "
    "may take, fresh=True gives it a worker of its own, off=True leaves it in this process whatever "
    "--outlive says"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardOptions:
    """How a test is guarded."""

    memory: str | int | None = None
    seconds: float | None = None
    fresh: bool = False


_kept = pytest.StashKey["GuardOptions | None"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and settings of the plugin."""
    group = parser.getgroup("outlive", "tests that may not take the session with them")
    group.addoption(
        "--outlive", action="store_true", help="run every test in a worker, as if all were marked `outlive`"
    )
    group.addoption(
        "--no-outlive",
        action="store_true",
        help="run all tests in this process, marked or not: what debuggers need",
    )
    group.addoption(
        "--outlive-memory", metavar="SIZE", help="what a guarded test may add to its worker, such as 2GB"
    )
    group.addoption(
        "--outlive-seconds", type=float, metavar="S", help="what a guarded test may take, fixtures included"
    )
    parser.addini("outlive", "run every test in a worker (--outlive)", type="bool", default=False)
    parser.addini("outlive_memory", "what a guarded test may add to its worker (--outlive-memory)")
    parser.addini("outlive_seconds", "what a guarded test may take (--outlive-seconds)")


def guard_options(item: pytest.Item) -> GuardOptions | None:
    """How a test is guarded; None if it is not. UsageError for a marker that cannot be understood."""
    if _kept not in item.stash:
        item.stash[_kept] = _make(item)
    return item.stash[_kept]


def check_session(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say what is wrong with markers and options before the first test runs."""
    _default_limits(config)
    guarded = [item for item in items if guard_options(item) is not None]
    if not guarded:
        return
    for name, dest in (("--pdb", "usepdb"), ("--trace", "trace")):
        if config.getoption(dest, False):
            raise pytest.UsageError(
                f"{name} needs tests in this process, and {guarded[0].nodeid} runs in a worker: "
                "add --no-outlive"
            )
    from outlive.pytest_plugin.session_options import carried_objects

    carried_objects(config)


def _make(item: pytest.Item) -> GuardOptions | None:
    config = item.config
    if config.getoption("no_outlive") or config.getoption("setupplan", False):
        return None
    marks = list(item.iter_markers("outlive"))
    if not marks and not (config.getoption("outlive") or config.getini("outlive")):
        return None
    asked: dict[str, Any] = {}
    for mark in marks:  # the nearest first
        for key, value in _checked(item, mark).items():
            asked.setdefault(key, value)
    if asked.pop("off", False):
        return None
    options = GuardOptions(**{**_default_limits(config), **asked})
    _limits(options.memory, options.seconds, item.nodeid)
    return options


def _checked(item: pytest.Item, mark: pytest.Mark) -> dict[str, Any]:
    wrong = [repr(value) for value in mark.args] + [key for key in mark.kwargs if key not in _KEYS]
    if wrong:
        words = ", ".join(f"{key}=" for key in _KEYS)
        raise pytest.UsageError(f"{item.nodeid}: the marker outlive takes {words}; not {', '.join(wrong)}")
    return dict(mark.kwargs)


def _default_limits(config: pytest.Config) -> dict[str, Any]:
    memory = config.getoption("outlive_memory") or config.getini("outlive_memory") or None
    seconds = config.getoption("outlive_seconds")
    if seconds is None:
        written = config.getini("outlive_seconds")
        try:
            seconds = float(written) if written else None
        except ValueError:
            raise pytest.UsageError(f"outlive_seconds is a number of seconds, not {written!r}") from None
    _limits(memory, seconds, "the session")
    return {"memory": memory, "seconds": seconds}


def _limits(memory: Any, seconds: Any, where: str) -> None:
    """UsageError for limits that cannot be."""
    if memory is None and seconds is None:
        return
    from outlive.verbs.guarded_process import Limits

    try:
        Limits(memory=memory, seconds=seconds)
    except (ValueError, TypeError) as error:
        raise pytest.UsageError(f"{where}: {error}") from None
