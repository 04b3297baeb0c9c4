"""What a plain answer has to look like: `(bytes, int)`, `[{"name": str, "per_round": float}]`.

bytes, str, bool        of this type
int                     a count: from 0 to less than 2**63
float                   a finite number
a | b                   one of these; `None` for nothing
(a, b), [a], {"x": a}   a tuple of just these, a list of any length, a table with just these names
object                  any plain value
"""

from __future__ import annotations

import math
import types
import typing
from typing import Any

from outlive.process.child.guard.message_frames import Malformed

_MOST = 1 << 63


def check_form(value: Any, form: Any) -> Any:
    """The value; `Malformed` if it has another form."""
    if not _fits(value, form):
        raise Malformed("an answer of another form than this question has")
    return value


def _fits(value: Any, form: Any) -> bool:
    if isinstance(form, tuple):
        return isinstance(value, tuple) and len(value) == len(form) and all(map(_fits, value, form))
    if isinstance(form, list):
        return isinstance(value, list) and all(_fits(one, form[0]) for one in value)
    if isinstance(form, dict):
        same = isinstance(value, dict) and set(value) == set(form)
        return same and all(_fits(value[name], part) for name, part in form.items())
    if isinstance(form, types.UnionType):
        return any(_fits(value, one) for one in typing.get_args(form))
    return _is_of(value, form)


def _is_of(value: Any, kind: type) -> bool:
    if kind is int:
        return type(value) is int and 0 <= value < _MOST
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    return isinstance(value, kind)
