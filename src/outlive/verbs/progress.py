"""Progress of long verbs, for a caller that does not ask for it with `tell`: a notebook shows a bar.

The verbs draw nothing. A notebook hands in what shows progress (`set_hearer`); without it a verb is called as
it is.
"""

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

Verb = TypeVar("Verb", bound=Callable[..., Any])
# The name of a verb -> what hears it as long as it runs.
Hearer = Callable[[str], AbstractContextManager[Callable[..., None]]]
_hearers: list[Hearer] = []


def set_hearer(hearer: Hearer | None) -> None:
    """Show the progress of every long verb with this; None shows none."""
    _hearers[:] = [] if hearer is None else [hearer]


def heard(verb: Verb) -> Verb:
    """The verb with its progress shown, unless `tell` was given; that of a verb within it is not."""

    @functools.wraps(verb)
    def call(*arguments: Any, **named: Any) -> Any:
        if not _hearers or "tell" in named:
            return verb(*arguments, **named)
        hearer = _hearers.pop()
        try:
            with hearer(verb.__name__) as tell:
                return verb(*arguments, tell=tell, **named)
        finally:
            _hearers[:] = [hearer]

    return cast(Verb, call)
