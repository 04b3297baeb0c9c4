"""What a guarded function raises, or cannot give back, as something that can be sent."""

from __future__ import annotations

import builtins
import pickle
import traceback
from typing import Any

from . import guard_pickle

_DEEPEST = 6
_MOST_PARTS = 2000


def describe(error: BaseException, skip: int = 1) -> bytes:
    """An exception as bytes: itself if it can be sent, and all of it in words; `skip` frames are ours."""
    place = error.__traceback__
    for _ in range(skip):
        place = place.tb_next if place is not None and place.tb_next is not None else place
    text = "".join(traceback.format_exception(type(error), error, place))
    kind = type(error)
    bases = [
        base.__name__
        for base in kind.__mro__
        if base.__module__ == "builtins" and issubclass(base, Exception) and hasattr(builtins, base.__name__)
    ]
    facts = {
        "module": kind.__module__,
        "name": kind.__qualname__,
        "type": kind.__name__,
        "text": _text(error),
        "traceback": text,
        "bases": bases,
        "pickle": _try_pickle(error),
        "refusal": getattr(error, "refusal", None) if kind.__name__ == "SamplesRefused" else None,
    }
    return pickle.dumps(facts, 5)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text cannot be had)"


def _try_pickle(error: BaseException) -> bytes | None:
    try:
        body, apart = guard_pickle.dumps(error)
    except Exception:
        return None
    if apart:
        try:
            return pickle.dumps(error, 5)
        except Exception:
            return None
    return body


def what_cannot_go(value: Any, error: BaseException) -> str:
    """In words: which part of a value cannot be sent, and why."""
    path, part = _find(value)
    kind = type(part)
    room = "" if kind.__module__ == "builtins" else kind.__module__ + "."
    where = "it is" if not path else "its part %s is" % path
    return "%s a %s (%s)" % (where, room + kind.__qualname__, str(error) or type(error).__name__)


def _find(value: Any) -> tuple[str, Any]:
    """The smallest part that cannot be sent, and the way to it."""
    path, left = "", _MOST_PARTS
    for _ in range(_DEEPEST):
        for step, part in _parts(value):
            left -= 1
            if left < 0:
                return path, value
            if not _can_go(part):
                path, value = path + step, part
                break
        else:
            return path, value
    return path, value


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [("[%.60r]" % (key,), item) for key, item in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [("[%d]" % index, item) for index, item in enumerate(value)]
    inside = getattr(value, "__dict__", None)
    return [(".%s" % key, item) for key, item in inside.items()] if type(inside) is dict else []


def _can_go(value: Any) -> bool:
    try:
        guard_pickle.dumps(value)
    except Exception:
        return False
    return True
