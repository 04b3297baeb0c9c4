"""From what was seen to what is raised: the caller that opens a worker hands in a judge, which says it.

A worker carries facts and does not interpret them. `outlive.verbs.judging` has the judge that knows the
rules: verbs hand it down, and the classes that a program opens itself are made there, with it.
"""

from __future__ import annotations

import contextlib
import re
import warnings
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
from outlive.process.flight import Flight, Unjudged

if TYPE_CHECKING:  # reading a file needs verdicts, and no worker
    from outlive.process.worker import RuntimeRaised

Source = str | bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that was refused before anything was touched: what was wanted, and what was given.

    `resizable` says whether the model's input can have the given shape; None if that is not known.
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
# Verdicts that a limit was reached, by us or by itself: D502 of memory, the others of time.
_LIMITS = ("D502", "D503", "D512")
# Findings that a running program is warned of; the others are in `findings`.
_WARNED = ("S709",)


# Where LiteRT's error reporter has put two messages together.
_JOINED = re.compile(r"(?<=\S)(?=Node number \d+ \()|(?<=[.?])(?=The model allocation|Registration failed)")


class Judge:
    """Turns facts into findings, and findings into what is raised.

    This one knows no rules: asked what a fact means, it raises `Unjudged`, for those who want the fact alone.
    Who opens a worker for a user hands in one that knows them (`outlive.verbs.judging.JUDGE`).
    """

    __slots__ = ()

    def find(self, kind: str, fact: Any, source: Source | None = None) -> tuple[Finding, str, Any]:
        """What a fact about a model means: the finding, its drawn text, and the fact, completed."""
        raise Unjudged(kind, fact)

    def find_all(self, flight: Flight) -> tuple[Finding, ...]:
        """Why a run ended badly, or what went wrong without a word."""
        return (self.find("flight", flight)[0],)

    def changed_file(self, change: Exception) -> Exception:
        """The error for a file that is no longer what was read (`FileChanged`)."""
        return change

    def find_in_words(self, text: str, model: Source = "", seen: Flight | None = None) -> tuple[Finding, ...]:
        """What a traceback says of a runtime and this model; nothing where no rules are known.

        `seen` is the record of the call that raised it.
        """
        return ()

    def refuse_file(self, source: Source, *, litert: bool = False) -> None:
        """Raise for a path or bytes that no runtime loads, or not the LiteRT that is installed here.

        Nothing is refused where no rules are known.
        """

    def attached(self, flight: Flight) -> Flight:
        """The record with this judge at hand, so that it can be asked for its `findings`."""
        return flight

    def warn(self, flight: Flight, stacklevel: int) -> None:
        """Say what went wrong without a word, as a Python warning, where a program reads the result of it."""
        found: tuple[Finding, ...] = ()
        with contextlib.suppress(OutliveError):  # a file that has changed: the run went well all the same
            found = self.find_all(flight)
        for finding in found:
            if finding.code in _WARNED:
                warnings.warn(SilentFailure(finding), stacklevel=stacklevel)

    def refused(self, call: Call) -> InputError:
        """The error for a call that was refused; the runtime's own words come first where it has any."""
        finding, drawn, _ = self.find("call", call)
        return InputError(finding, f"{foreign_lines(_sentences(call.text))}\n{drawn}" if call.text else drawn)

    def died(self, flight: Flight, source: Source | None = None) -> RunError:
        """The error for a worker that ended before it answered."""
        finding, drawn, flight = self._judged(flight, source)
        kind = LimitReached if finding.code in _LIMITS else ModelDied
        return kind(finding, drawn, flight=flight)

    def with_verdict(self, error: BaseException, flight: Flight) -> BaseException:
        """An error of a guarded function's own about memory: it stays what it is, with finding and flight."""
        finding, drawn, flight = self._judged(flight)
        return _attach(error, finding, drawn, flight)

    def with_words(
        self, error: BaseException, text: str, model: Source = "", seen: Flight | None = None
    ) -> BaseException:
        """An error of a guarded function's own: it stays what it is, with the finding its words lead to."""
        found = () if isinstance(error, OutliveError) else self.find_in_words(text, model, seen)
        return _attach(error, found[0], str(found[0]), None) if found else error

    def missing(self, kind: str, fact: object) -> RuntimeMissing:
        """The error for a runtime ("absence") or an accelerator that is not there."""
        finding, drawn, _ = self.find(kind, fact)
        return RuntimeMissing(finding, drawn)

    def unavailable(self, text: str, flight: Flight | None = None) -> WorkerUnavailable:
        """The error for a system that refuses a process, or what one needs."""
        seen = flight or Flight(died=False, stage="start", error_type="OSError", error_text=text)
        finding, drawn, seen = self._judged(seen)
        return WorkerUnavailable(finding, drawn, flight=seen)

    def unsandboxed(self, applied: dict[str, Any]) -> RunError:
        """The error for a sandbox that was insisted on and cannot be had."""
        finding, drawn, _ = self.find("unsandboxed", str(applied.get("sandbox", {}).get("why", "")))
        return RunError(finding, drawn)

    def raised(self, error: RuntimeRaised, flight: Flight, source: Source | None = None) -> Exception:
        """The error for a runtime that complained in words: the same type and text, with a finding."""
        # A name that is no UTF-8: a kind of ValueError that cannot be made again from its words.
        kind = "ValueError" if error.kind == "UnicodeDecodeError" else error.kind
        if kind == "OSError":
            return self.unavailable(error.text, flight)
        if kind not in ("RuntimeError", "ValueError", "MemoryError"):
            return _OTHER_KINDS.get(error.kind, RuntimeError)(foreign_lines(error.text))
        finding, drawn, flight = self._judged(flight, source)
        text = f"{foreign_lines(_sentences(error.text))}\n{drawn}" if error.text else drawn
        if finding.code in _LIMITS:
            return LimitReached(finding, text, flight=flight)
        if kind == "ValueError":
            refusal = InputError(finding, text)
            refusal.flight = flight
            return refusal
        return RunError(finding, text, flight=flight)

    def _judged(self, flight: Flight, source: Source | None = None) -> tuple[Finding, str, Flight]:
        finding, drawn, seen = self.find("flight", flight, source)
        return finding, drawn, self.attached(seen)


def _sentences(text: str) -> str:
    """LiteRT's words with each of its sentences on a line of its own: it joins them without a space."""
    return _JOINED.sub("\n", text)


def _attach(error: BaseException, finding: Finding, drawn: str, flight: Flight | None) -> BaseException:
    """The same error with a finding, and its text as a note; a type of the user's may have no room for it."""
    known: Any = error
    with contextlib.suppress(AttributeError):
        known.finding, known.findings, known.flight = finding, (finding,), flight
    if hasattr(error, "add_note"):
        error.add_note(drawn)
    elif hasattr(known.__cause__, "text"):
        known.__cause__.text += f"{drawn}\n"
    return error
