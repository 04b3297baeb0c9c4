"""`guard`: a function that cannot take its caller with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from outlive.verbs.judging import JUDGE

if TYPE_CHECKING:
    from outlive.guarding.guarding import Guarded


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
def guard(
    function: Callable[..., Any] | None = None,
    /,
    *,
    memory: str | int | None = None,
    seconds: float | None = None,
    fresh: bool = False,
    recycle: int | str | None = None,
    sandbox: str = "off",
) -> Any:
    """A function that runs in a worker of its own: it may crash, hang or eat memory, and the caller lives.

    `guard(function, memory="2GB", seconds=60)(*args)`, or as a decorator `@guard` or `@guard(seconds=60)`.
    `memory` is what a call may add to its worker, `seconds` what an answer may take. Workers are kept and
    used again; `fresh=True` is a new one for each call, `recycle=100` a new one after so many calls,
    `recycle="500MB"` after so much growth. Generators stream, given or returned; arrays are not copied more
    than once each way; what is printed and logged appears here. With `sandbox="on"` it cannot write files,
    read others than those of Python and `sys.path`, open sockets, or start processes.
    """
    from outlive.worker.limits import Limits
    from outlive.worker.sandbox import choose_mode

    options: dict[str, Any] = {
        "memory": memory,
        "seconds": seconds,
        "fresh": fresh,
        "recycle": recycle,
        "sandbox": sandbox,
    }
    if function is not None:
        return guarded(function, **options)
    Limits(memory=memory, seconds=seconds)  # mistakes show at once
    choose_mode(sandbox)
    return partial(guarded, **options)


def guarded(function: Callable[..., Any], **options: Any) -> Guarded:
    """The function in a worker (`make_guarded`), with the judge that knows the rules."""
    from outlive.guarding.guarding import make_guarded

    return make_guarded(function, judge=JUDGE, **options)
