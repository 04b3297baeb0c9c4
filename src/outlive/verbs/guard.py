"""`guard`: a function, or a script, that cannot take its caller with it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from outlive.verbs.judging import JUDGE

if TYPE_CHECKING:
    from outlive.guarding.guarded import Guarded
    from outlive.guarding.script import ScriptEnd
    from outlive.process.limits import Limits

# TensorFlow in a process of its own takes some 300 MB, and leaves the rest to the program.
_ROOM_BYTES = 2_000_000_000


@overload
def guard(
    function: Callable[..., Any],
    /,
    *,
    memory: str | int | None = None,
    seconds: float | None = None,
    fresh: bool = False,
    recycle: int | str | None = None,
    sandbox: str = "off",
) -> Guarded: ...
@overload
def guard(
    function: None = None,
    /,
    *,
    memory: str | int | None = None,
    seconds: float | None = None,
    fresh: bool = False,
    recycle: int | str | None = None,
    sandbox: str = "off",
) -> Callable[[Callable[..., Any]], Guarded]: ...
@overload
def guard(
    function: str | os.PathLike[str],
    /,
    *,
    memory: str | int | None = None,
    seconds: float | None = None,
    sandbox: str = "off",
    as_module: bool = False,
) -> Callable[..., ScriptEnd]: ...
def guard(
    function: Callable[..., Any] | str | os.PathLike[str] | None = None,
    /,
    *,
    memory: str | int | None = None,
    seconds: float | None = None,
    fresh: bool = False,
    recycle: int | str | None = None,
    sandbox: str = "off",
    as_module: bool = False,
) -> Any:
    """Run a Python function in a separate process: it may crash, hang or use too much memory; you survive.

    `guard(function, memory="2GB", seconds=60)(*args)`, or as a decorator `@guard` or `@guard(seconds=60)`.
    `memory` is the most that a call may add, `seconds` the most that an answer may take. Workers are kept and
    used again; `fresh=True` starts a new one for each call, `recycle=100` after 100 calls,
    `recycle="500MB"` after 500 MB of growth. Generators stream, given or returned; arrays are copied at most
    once each way; what the function prints and logs appears here. With `sandbox="on"` it cannot write files,
    read other files than those of Python and `sys.path`, open sockets, or start processes.

    `guard("train.py")("--epochs", "3")` runs a script with the streams of this process, or a module with
    `as_module`: the result says how it ended, with its exit code, and the findings if it died.

    >>> outlive.guard(sum, seconds=60)([1, 2, 3])
    6
    """
    from outlive.process.limits import Limits, choose_mode

    limits, mode = Limits(memory=memory, seconds=seconds), choose_mode(sandbox)  # mistakes show at once
    if isinstance(function, (str, os.PathLike)):
        script = os.fspath(function)
        if not as_module and not os.path.exists(script):
            raise ValueError(f"file not found: {script!r}")
        return functools.partial(_run_script, script, as_module, limits, mode)
    make = functools.partial(
        guarded, memory=memory, seconds=seconds, fresh=fresh, recycle=recycle, sandbox=sandbox
    )
    return make if function is None else make(function)


def guarded(function: Callable[..., Any], **options: Any) -> Guarded:
    """The function in a worker (`Guarded`), with the judge that knows the rules."""
    from outlive.guarding.guarded import Guarded

    return Guarded(function, judge=JUDGE, **options)


def warm_tensorflow() -> None:
    """Have TensorFlow loaded for workers in the background, where there is a core and memory for it."""
    from outlive.guarding.pool import pool
    from outlive.meter import read_machine

    free_bytes = read_machine().usable_bytes()
    if (os.cpu_count() or 1) > 1 and (free_bytes is None or free_bytes >= _ROOM_BYTES):
        pool.warm(tensorflow=True, plain=True)


def _run_script(script: str, as_module: bool, limits: Limits, sandbox: str, *arguments: str) -> ScriptEnd:
    from outlive.guarding.script import run_script
    from outlive.rules.flight_end import lacked_memory

    end = run_script(
        script, list(arguments), judge=JUDGE, as_module=as_module, limits=limits, sandbox=sandbox
    )
    if end.exit_code is None or lacked_memory(end.flight):
        end = replace(end, findings=(JUDGE.find("flight", end.flight)[0],))
    return end


def guard_cell(function: Callable[..., Any], cell: str, memory: Any, seconds: Any) -> Guarded:
    """A function that runs a notebook's cell in a worker; what it dies of is said of the cell."""
    return guarded(function, memory=memory, seconds=seconds, doing={"cell": cell})


def cannot_be_sent(error: BaseException) -> bool:
    """True if a call was not made because an argument, or the function, cannot go to a worker."""
    from outlive.guarding.worker_errors import CannotSend

    return isinstance(error, CannotSend)
