"""Who hears how far a long verb has come, if its caller has not asked to hear it: a notebook, with a bar.

The front desk draws nothing. Whoever can show something is handed in with `set_hearer`; nobody is, outside of
notebooks, and then a verb is called as it stands.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

Verb = TypeVar("Verb", bound=Callable[..., Any])
# The name of a verb -> what hears it as long as it runs.
Hearer = Callable[[str], AbstractContextManager[Callable[..., None]]]
_hearers: list[Hearer] = []


def set_hearer(hearer: Hearer | None) -> None:
    """Have every long verb heard by this; None for nobody."""
    _hearers[:] = [] if hearer is None else [hearer]


def heard(verb: Verb) -> Verb:
    """The verb, heard by whoever is there to hear it, unless `tell` was given; one within another is not."""

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
