"""A function as a worker gets it: sent once, and again when what it refers to has changed."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import numbers
import pathlib
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from outlive.process.child.guard import pickling

_numbers = itertools.count(1)
_TENSORFLOW = frozenset({"tensorflow", "keras", "tf_keras", "tensorflow_hub", "tensorflow_datasets"})
# What cannot change while it is the same object.
_LASTING = (
    str,
    bytes,
    bool,
    type(None),
    type(...),
    numbers.Number,
    re.Pattern,
    pathlib.PurePath,
    enum.Enum,
    types.ModuleType,
    types.BuiltinFunctionType,
    type,
)
_DEEPEST = 20


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A place that a function looks at, and what was there."""

    table: Any
    name: Any
    value: Any

    def is_same(self) -> bool:
        """True if the same object is there still."""
        if isinstance(self.table, types.CellType):
            return _cell_value(self.table) is self.value
        if isinstance(self.table, dict):
            return self.table.get(self.name) is self.value
        return getattr(self.table, self.name, None) is self.value


class SentFunction:
    """A function and its bytes; `number` is new whenever the bytes are."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Nothing is packed before it is needed."""
        self.function = function
        self.number = self.replaced = 0
        self.body = b""
        self.apart: list[memoryview] = []
        self._references: list[Reference] = []
        self._lasting = False
        self._reload_version = 0

    @classmethod
    def by_name(cls, body: bytes) -> SentFunction:
        """A function that the worker has already; `body` is the pickle of its name."""
        sent = cls(len)
        sent.number, sent.body, sent._lasting = next(_numbers), body, True
        return sent

    def refresh(self, reload_version: int = 0) -> None:
        """Pack it, if that has not been done or may have to be done again.

        Another `reload_version` says that modules were loaded again, where what it refers to may be found.
        """
        is_current = reload_version == self._reload_version
        if self.number and is_current and self._lasting and self._is_same():
            return
        references = [] if _is_importable(self.function) else list(_references(self.function, set(), 0))
        body, apart = pickling.dumps(self.function)
        self._references = references
        self._lasting = all(_lasts(one.value) for one in references) and _lasts(self.function)
        self._reload_version = reload_version
        if body != self.body or apart or not is_current:
            self.replaced, self.number = self.number, next(_numbers)
            self.body, self.apart = body, apart

    def _is_same(self) -> bool:
        for reference in self._references:  # noqa: SIM110 - half the time of all() over a generator
            if not reference.is_same():
                return False
        return True


def mentions_tensorflow(function: Callable[..., Any]) -> bool:
    """True if a function, or what it refers to, names TensorFlow; or if this process has loaded it."""
    if not _TENSORFLOW.isdisjoint(sys.modules):
        return True
    found = [reference.value for reference in _references(function, set(), 0)]
    return any(map(_is_of_tensorflow, (function, *found)))


def _is_of_tensorflow(value: Any) -> bool:
    """True for its modules and what they define, and for functions that name it."""
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    names = _names(value.__code__) if type(value) is types.FunctionType else set()
    words = (*names, name) if isinstance(name, str) else names
    return any(word.partition(".")[0] in _TENSORFLOW for word in words)


def _lasts(value: Any) -> bool:
    """True if a change of the value would be seen: another object, or another object behind a function."""
    if isinstance(value, _LASTING):
        return True
    if isinstance(value, (tuple, frozenset)):
        return all(map(_lasts, value))
    return type(value) is types.FunctionType or _is_ufunc(value)


def _is_ufunc(value: Any) -> bool:
    """True for numpy's elementwise functions, such as numpy.negative."""
    return type(value).__name__ == "ufunc" and type(value).__module__ == "numpy"


def _references(function: Any, seen: set[int], depth: int) -> Iterator[Reference]:
    """Everything a function looks at, and what functions that are sent with it look at."""
    if type(function) is not types.FunctionType or id(function) in seen or depth > _DEEPEST:
        return
    seen.add(id(function))
    found = [
        Reference(table=function.__globals__, name=name, value=function.__globals__[name])
        for name in sorted(_names(function.__code__))
        if name in function.__globals__
    ]
    found += [
        Reference(table=cell, name=None, value=_cell_value(cell)) for cell in function.__closure__ or ()
    ]
    found += [
        Reference(table=function, name=name, value=getattr(function, name))
        for name in ("__code__", "__defaults__", "__kwdefaults__")
    ]
    for reference in found:
        if not isinstance(reference.value, types.CodeType):
            yield reference
            if not _is_importable(reference.value):
                yield from _references(reference.value, seen, depth + 1)


def _is_importable(function: Any) -> bool:
    """True if a worker can import the function: then it is sent by name, and looks at the worker's module."""
    name = getattr(function, "__module__", None)
    found: Any = sys.modules.get(name) if isinstance(name, str) and name != "__main__" else None
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is function and found is not None


def _cell_value(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None


def _names(code: types.CodeType) -> set[str]:
    """The names that code and the code within it look up."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found
