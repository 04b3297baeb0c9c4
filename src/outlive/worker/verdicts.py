"""The way from what was seen to what is raised: the judge sits upstairs and is handed in.

A worker carries facts and does not judge them. Whoever opens the public door (`outlive.verbs`) installs a
judge that turns a `Flight` or a `Call` into a finding and its drawn text.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outlive.errors import (
    InputError,
    LimitReached,
    ModelDied,
    OutliveError,
    RunError,
    RuntimeMissing,
    SilentFailure,
    WorkerUnavailable,
)
from outlive.finding import Finding
from outlive.names import foreign_lines
from outlive.worker.flight import Flight

if TYPE_CHECKING:  # reading a file needs verdicts, and no worker
    from outlive.worker.handle import RuntimeRaised

Source = str | bytes
# A kind of fact, the fact, and the model it is about -> the finding, its drawn text, and the fact, completed.
Judge = Callable[[str, Any, Source | None], tuple[Finding, str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that was refused before anything was touched: what was wanted, and what was given.

    `resizable` says whether the model's input can have the given shape; None if nobody knows.
    """

    problem: str
    index: int | None = None
    name: str = ""
    wanted_shape: tuple[int, ...] = ()
    wanted_dtype: str = ""
    given_shape: tuple[int, ...] = ()
    given_dtype: str = ""
    text: str = ""
    resizable: bool | None = None


_OTHER_KINDS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (TypeError, IndexError, KeyError, AttributeError)
}
_judges: list[Judge] = []
# Verdicts that a limit was reached, by us or by itself: D502 of memory, the others of time.
_LIMITS = ("D502", "D503", "D512")
# What a program that goes on is told at once; the rest is there for whoever asks.
_WARNED = ("S709",)


def set_judge(judge: Judge) -> None:
    """Install the judge."""
    _judges[:] = [judge]


def _judged(kind: str, fact: object, source: Source | None = None) -> tuple[Finding, str, Any]:
    assert _judges, "whoever opens the public door installs a judge"
    return _judges[0](kind, fact, source)


def warn(flight: Flight, stacklevel: int) -> None:
    """Say what went wrong without a word, as a Python warning, where a program reads the result of it."""
    found: tuple[Finding, ...] = ()
    with contextlib.suppress(OutliveError):  # a file that has changed: the run went well all the same
        found = flight.findings
    for finding in found:
        if finding.code in _WARNED:
            warnings.warn(SilentFailure(finding), stacklevel=stacklevel)


def refused(call: Call) -> InputError:
    """The error for a call that was refused; the runtime's own words come first where it has any."""
    finding, drawn, _ = _judged("call", call)
    return InputError(finding, f"{foreign_lines(call.text)}\n{drawn}" if call.text else drawn)


def died(flight: Flight, source: Source | None = None) -> RunError:
    """The error for a worker that ended before it answered."""
    finding, drawn, flight = _judged("flight", flight, source)
    kind = LimitReached if finding.code in _LIMITS else ModelDied
    return kind(finding, drawn, flight=flight)


def with_verdict(error: BaseException, flight: Flight) -> BaseException:
    """An error of a guarded function's own about memory: it stays what it is, with a finding and a flight."""
    finding, drawn, flight = _judged("flight", flight)
    known: Any = error
    with contextlib.suppress(AttributeError):  # a type of the user's may have no room for more
        known.finding, known.findings, known.flight = finding, (finding,), flight
    if hasattr(error, "add_note"):
        error.add_note(drawn)
    elif hasattr(known.__cause__, "text"):
        known.__cause__.text += f"{drawn}\n"
    return error


def missing(text: str) -> RuntimeMissing:
    """The error for a runtime that is not there."""
    finding, drawn, _ = _judged("absence", text)
    return RuntimeMissing(finding, drawn)


def unavailable(text: str, flight: Flight | None = None) -> WorkerUnavailable:
    """The error for a system that refuses a process, or what one needs."""
    seen = flight or Flight(died=False, stage="start", error_type="OSError", error_text=text)
    finding, drawn, seen = _judged("flight", seen)
    return WorkerUnavailable(finding, drawn, flight=seen)


def unsandboxed(applied: dict[str, Any]) -> RunError:
    """The error for a sandbox that was insisted on and cannot be had."""
    finding, drawn, _ = _judged("unsandboxed", str(applied.get("sandbox", {}).get("why", "")))
    return RunError(finding, drawn)


def raised(error: RuntimeRaised, flight: Flight, source: Source | None = None) -> Exception:
    """The error for a runtime that complained in words: the same type and text, with a finding."""
    # A name that is no UTF-8: a kind of ValueError that cannot be made again from its words.
    kind = "ValueError" if error.kind == "UnicodeDecodeError" else error.kind
    if kind == "OSError":
        return unavailable(error.text, flight)
    if kind not in ("RuntimeError", "ValueError", "MemoryError"):
        return _OTHER_KINDS.get(error.kind, RuntimeError)(foreign_lines(error.text))
    finding, drawn, flight = _judged("flight", flight, source)
    text = f"{foreign_lines(error.text)}\n{drawn}" if error.text else drawn
    if finding.code in _LIMITS:
        return LimitReached(finding, text, flight=flight)
    if kind == "ValueError":
        refusal = InputError(finding, text)
        refusal.flight = flight
        return refusal
    return RunError(finding, text, flight=flight)
