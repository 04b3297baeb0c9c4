"""What an answer of a worker has to look like: `(bytes, int)`, `[{"name": str, "per_round": float}]`.

bytes, str, bool, list ...    of this type
int                           a count: from 0 to less than 2**63
float                         a finite number
None                          nothing
Either(a, b)                  one of these forms; `a | b` for types
(a, b), [a]                   a tuple of just these, a list of any length
{"x": a}, {str: a}            a table with just these names, or with names and values of a form
{"x": a, ...: object}         a table with these names and others; one that is absent counts as None
object                        any value
a function                    what it says of the value
"""

import math
import types
import typing
from typing import Any

_MOST = 1 << 63


class Either:
    """One of these forms."""

    def __init__(self, *forms: Any) -> None:
        """Keep them."""
        self.forms = forms


def has_form(value: Any, form: Any) -> bool:
    """True if the value has this form."""
    if isinstance(form, tuple):
        return isinstance(value, tuple) and len(value) == len(form) and all(map(has_form, value, form))
    if isinstance(form, list):
        return isinstance(value, list) and all(has_form(one, form[0]) for one in value)
    if isinstance(form, dict):
        return isinstance(value, dict) and _is_table(value, form)
    if isinstance(form, (Either, types.UnionType)):
        forms = form.forms if isinstance(form, Either) else typing.get_args(form)
        return any(has_form(value, one) for one in forms)
    if isinstance(form, types.FunctionType):
        return bool(form(value))
    return value is None if form is None else _is_of(value, form)


def _is_table(value: dict[Any, Any], form: dict[Any, Any]) -> bool:
    key, of_values = next(iter(form.items()))
    if isinstance(key, type):
        return all(has_form(name, key) and has_form(one, of_values) for name, one in value.items())
    names = [name for name in form if name is not ...]
    is_complete = ... in form or set(value) == set(names)
    return is_complete and all(has_form(value.get(name), form[name]) for name in names)


def _is_of(value: Any, kind: type) -> bool:
    if kind is int:
        return type(value) is int and 0 <= value < _MOST
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    return isinstance(value, kind)
