"""What a worker's function raised, raised again here; and errors for what cannot cross the border."""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import pickle
import re
import sys
from dataclasses import replace
from typing import Any

from outlive.errors import OutliveError
from outlive.finding import Finding
from outlive.guarding.caller_state import NATIVE
from outlive.interpreter.answer_forms import Either, has_form
from outlive.interpreter.judge import Call, Judge, Source
from outlive.meter import Point, read_machine
from outlive.names import safe_lines
from outlive.process.child.guard import exceptions, plain_values
from outlive.process.child.guard import variables as worker_variables
from outlive.process.child.guard.message_frames import Malformed
from outlive.process.flight import Flight

_NO_THREAD = "can't start new thread"
# Libraries of many megabytes, which are not loaded here for the type of an error alone.
_COSTLY = ("numpy", "scipy", "pandas", "sklearn", "matplotlib")
_GENERAL = ("Exception", "RuntimeError")
_PYTHONS: dict[str, type[Exception]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}
_OURS = ("outlive.process.child.leak.targets", "CannotRepeat")
_MOST_VARIABLES, _MOST_NAME, _MOST_TRACE, _MOST_BYTES = 3, 160, 20_000, 1 << 60


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST_BYTES


def _is_integer(value: Any) -> bool:
    return type(value) is int


# Who held the memory (process/child/guard/variables.py).
_VARIABLES = [{"name": str, "type": str, "items": _is_size, "bytes": _is_size}]
_MEMORY = {"trace": str, "variables": _VARIABLES, "held": {object: _is_size}}
# Samples that a worker refuses (process/child/guard/calibration_watch.py), and what it says of an exception
# in plain words (exceptions.py).
_REFUSAL: dict[Any, Any] = {
    **dict.fromkeys(("problem", "text", "name", "given_dtype", "wanted_dtype"), str | None),
    **dict.fromkeys(("given_shape", "wanted_shape"), Either([_is_integer], None)),
    "index": Either(_is_integer, None),
}
_PLAIN_FACTS: dict[Any, Any] = {
    **dict.fromkeys(("module", "name", "type", "text", "traceback", "model_file"), str),
    "bases": [str],
    "arguments": list | None,
    "refusal": Either({**_REFUSAL, ...: object}, None),
    "memory": Either(_MEMORY, None),
}
_PROBLEMS = ("no-samples", "sample-misfit", "nan-in-sample", "infinity-in-sample")
_NATIVE_NAMES = re.compile("|".join(NATIVE).encode())


class WorkerTraceback(Exception):
    """The traceback of a worker, as text: the cause of the exception that it raised."""

    def __init__(self, text: str) -> None:
        """Keep the text."""
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        """The traceback, as the worker would have printed it, but for what is no plain text."""
        return f'\n"""\n{safe_lines(self.text)}"""'


class GuardedError(RuntimeError):
    """An exception of a worker whose own type cannot be had here; `type_name` says what it was."""

    type_name = ""


class CannotSend(TypeError):
    """An argument, or the function itself, that cannot be sent to a worker."""


class CannotReturn(TypeError):
    """A result that cannot come back from a worker; the text names the part that cannot."""


class _Careful(pickle.Unpickler):
    """Loads no machine-learning library into this process: that is what workers are for."""

    def find_class(self, module: str, name: str) -> Any:
        room = module.partition(".")[0]
        if room in NATIVE and room not in sys.modules:
            raise CannotReturn(
                f"the result holds a {module}.{name}, and to bring it here would load {room} into this "
                f"process; return arrays or plain values, or import {room} here yourself first"
            )
        return super().find_class(module, name)


def load_value(body: Any, buffers: list[Any]) -> Any:
    """A result; `CannotReturn` if it cannot be had here."""
    try:
        if _NATIVE_NAMES.search(body):
            return _Careful(io.BytesIO(body), buffers=buffers).load()
        return pickle.loads(body, buffers=buffers)
    except CannotReturn:
        raise
    except Exception as error:
        kind = type(error).__name__
        raise CannotReturn(f"this process cannot read the result: {kind}: {error}") from error


def rebuild(body: bytes, seen: Flight, judge: Judge, given: Source | None = None) -> BaseException:
    """The exception of a worker, with its traceback as the cause; one about memory with its verdict.

    `given` is the model that the call was given as bytes.
    """
    facts = pickle.loads(body)
    error = _caused(_refused(facts["refusal"], judge) or _own(facts) or _like(facts), facts, seen, judge)
    # Only of the user's own function: who calls ours knows what an error of it means.
    if facts["memory"] is not None:
        return error
    model = facts["model_file"] or given or ""
    return judge.with_words(error, str(error.__cause__), model, raised_flight(seen, facts))


def rebuild_plain(body: Any, seen: Flight, judge: Judge) -> BaseException:
    """The same of what a worker said in plain words; `Malformed` if it said something else."""
    facts = plain_values.loads(body)
    if not has_form(facts, _PLAIN_FACTS):
        raise Malformed("an exception with other fields, or of other types")
    refusal, memory = facts["refusal"], facts["memory"]
    if refusal is not None and (refusal.get("problem") not in _PROBLEMS or not set(refusal) <= set(_REFUSAL)):
        raise Malformed("it refuses what it cannot refuse")
    if memory is not None:
        _check_variables(memory["variables"])
    return _caused(_refused(refusal, judge) or _named(facts) or _like(facts), facts, seen, judge)


def _check_variables(rows: Any) -> None:
    if not has_form(rows, _VARIABLES):
        raise Malformed("variables of another form")
    if len(rows) > _MOST_VARIABLES or any(len(row["name"] + row["type"]) > _MOST_NAME for row in rows):
        raise Malformed("variables without end")


def ends_with_variables(trace: str) -> bool:
    """True if the last that a worker wrote are its variables."""
    return trace.rstrip().rpartition("\n")[2].startswith(worker_variables.MARK)


def take_variables(trace: str) -> tuple[str, tuple[dict[str, Any], ...]]:
    """What a worker wrote of its stack, and the variables that it named in it last."""
    lines = trace.splitlines(keepends=True)
    marked = [line for line in lines if line.startswith(worker_variables.MARK)]
    try:
        rows = json.loads(marked[-1][len(worker_variables.MARK) :])
        _check_variables(rows)
    except (IndexError, ValueError, TypeError, RecursionError, Malformed):
        rows = ()
    return "".join(line for line in lines if line not in marked), tuple(rows)


def _named(facts: dict[str, Any]) -> BaseException | None:
    """An exception of Python's, or the one of ours that workers raise; None for all others."""
    kind = _PYTHONS.get(facts["name"]) if facts["module"] == "builtins" else None
    if (facts["module"], facts["name"]) == _OURS:
        from outlive.process.child.leak.targets import CannotRepeat

        kind = CannotRepeat
    if kind is None:
        return None
    arguments = facts["arguments"]
    for given in (arguments, [facts["text"]]) if arguments is not None else ([facts["text"]],):
        with contextlib.suppress(Exception):  # it wants other arguments
            return kind(*given)
    return None


def _caused(error: BaseException, facts: dict[str, Any], seen: Flight, judge: Judge) -> BaseException:
    text = facts["traceback"]
    if _NO_THREAD in str(error) and isinstance(error, RuntimeError):
        text += f"{_thread_limits()}\n"
    error.__cause__ = WorkerTraceback(text)
    if facts["memory"] is not None:
        return judge.with_verdict(error, raised_flight(seen, facts))
    return error


def findings_of(facts: dict[str, Any], seen: Flight, judge: Judge) -> tuple[Finding, ...]:
    """What an exception that a script ended with means, as of one that a function raises."""
    refused = _refused(facts["refusal"], judge)
    if isinstance(refused, OutliveError):
        return refused.findings
    return judge.find_in_words(facts["traceback"], facts["model_file"], raised_flight(seen, facts))


def raised_flight(seen: Flight, facts: dict[str, Any]) -> Flight:
    """The record of a call that raised something; of an error about memory with all that its worker saw."""
    known = facts["memory"] or {"trace": "", "variables": (), "held": {}}
    private, rss = (known["held"].get(name, 0) for name in ("private_bytes", "rss_bytes"))
    above = max(0, private - seen.baseline_bytes)
    points = list(seen.timeline)
    if points and above > (seen.peak_bytes or 0):
        # Seen by the worker itself, at the end of the rise.
        top = max(range(len(points)), key=lambda index: points[index].bytes)
        points.insert(top + 1, Point(seconds=points[top].seconds, bytes=above, rss_bytes=rss))
    return replace(
        seen,
        stage="call",
        error_type=facts["type"],
        error_text=facts["text"],
        fault_trace=known["trace"][:_MOST_TRACE],
        variables=tuple(known["variables"]),
        machine=read_machine().known() if facts["memory"] else {},
        peak_bytes=max(above, seen.peak_bytes or 0),
        timeline=tuple(points),
    )


def _thread_limits() -> str:
    """What a thread counts against, for an exception of Python that only says that there are no more."""
    from outlive.meter import find_limits

    known = [f"{limit.name} allows {limit.most:,} processes and threads" for limit in find_limits()]
    return "; ".join(known) or "no limit on threads is known: there may be no memory for the stack"


def _refused(facts: dict[str, Any] | None, judge: Judge) -> BaseException | None:
    """The error with a finding for what the worker refused to hand on: samples that cannot be used."""
    if facts is None:
        return None
    given = {name: value for name, value in facts.items() if value is not None}
    shapes = {name: tuple(given.get(name, ())) for name in ("wanted_shape", "given_shape")}
    return judge.refused(Call(**{**given, **shapes}))


def _own(facts: dict[str, Any]) -> BaseException | None:
    """The exception itself, where its type can be had."""
    room = facts["module"].partition(".")[0]
    if room in _COSTLY and room not in sys.modules:
        return None
    for name, make in (("pickle", _as_is), ("parts", _assembled)):
        if facts[name] is None:
            continue
        try:
            error = make(load_value(facts[name], []))
        except Exception:
            continue
        if isinstance(error, BaseException):
            return error
    return None


def _as_is(error: Any) -> Any:
    return error


def _assembled(parts: Any) -> Any:
    """An exception without its own `__init__`, which wants arguments that are not known any more."""
    kind, arguments, state = parts
    base = exceptions.built_in_base(kind)
    error = base.__new__(kind, *arguments)
    base.__init__(error, *arguments)
    error.__setstate__(state)
    return error


def _like(facts: dict[str, Any]) -> GuardedError:
    """One of the same name, caught by the same `except` where that names a type of Python itself."""
    bases = [_PYTHONS[name] for name in facts["bases"] if name in _PYTHONS and name not in _GENERAL]
    name = facts["type"] if facts["type"].isidentifier() else GuardedError.__name__
    kind: type[GuardedError] = GuardedError
    for own in (bases, []):
        try:
            kind = type(name, (GuardedError, *own), {"type_name": f"{facts['module']}.{facts['name']}"})
            error = kind(facts["text"])
            if str(error) or not facts["text"]:
                return error  # some types of Python make their words of other arguments
        except (TypeError, ValueError):
            continue  # two types of Python that cannot be one
    return kind(facts["text"])
