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
    """A function that runs in a worker of its own: it may crash, hang or eat memory, and the caller lives.

    `guard(function, memory="2GB", seconds=60)(*args)`, or as a decorator `@guard` or `@guard(seconds=60)`.
    `memory` is what a call may add to its worker, `seconds` what an answer may take. Workers are kept and
    used again; `fresh=True` is a new one for each call, `recycle=100` a new one after so many calls,
    `recycle="500MB"` after so much growth. Generators stream, given or returned; arrays are not copied more
    than once each way; what is printed and logged appears here. With `sandbox="on"` it cannot write files,
    read others than those of Python and `sys.path`, open sockets, or start processes.

    `guard("train.py")("--epochs", "3")` runs a script with this process's streams, or a module with
    `as_module`: how it ended, its exit code, and the findings if it died.
    """
    from outlive.process.limits import Limits
    from outlive.process.sandbox_policy import choose_mode

    limits, mode = Limits(memory=memory, seconds=seconds), choose_mode(sandbox)  # mistakes show at once
    if isinstance(function, (str, os.PathLike)):
        script = os.fspath(function)
        if not as_module and not os.path.exists(script):
            raise ValueError(f"there is no file {script!r}")
        return functools.partial(_run_script, script, as_module, limits, mode)
    make = functools.partial(
        guarded, memory=memory, seconds=seconds, fresh=fresh, recycle=recycle, sandbox=sandbox
    )
    return make if function is None else make(function)


def guarded(function: Callable[..., Any], **options: Any) -> Guarded:
    """The function in a worker (`Guarded`), with the judge that knows the rules."""
    from outlive.guarding.guarded import Guarded

    return Guarded(function, judge=JUDGE, **options)


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
