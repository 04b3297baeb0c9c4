"""What a guarded function raises, or cannot give back, as something that can be sent."""

from __future__ import annotations

import builtins
import os
import pickle
import traceback
from typing import Any

from ..operating_system import own_resources
from . import pickling, plain_values, variables

_DEEPEST = 6
# Of texts that go in JSON, where a character takes 12 bytes at most.
_MOST_WORDS = {
    "text": 30_000,
    "traceback": 30_000,
    "module": 200,
    "name": 200,
    "type": 200,
    "model_file": 1000,
}
_MOST_ARGUMENTS, _MOST_ARGUMENT = 5, 1000
_MOST_PARTS = 2000
_MADE_BY_CLASS = 1 << 9  # Include/object.h: Py_TPFLAGS_HEAPTYPE
# Packages whose interpreters open a model, and what they call its path.
_RUNTIMES, _PATH = ("ai_edge_litert", "tflite_runtime", "tensorflow"), "model_path"
_BUILT_IN_INIT = type(BaseException.__init__)


def describe(error: BaseException, skip: int = 1) -> bytes:
    """An exception as bytes: itself if it can be sent, and all of it in words; `skip` frames are ours."""
    pickled, parts = _as_bytes(error)
    return pickle.dumps(dict(in_words(error, skip), pickle=pickled, parts=parts), 5)


def describe_plainly(error: BaseException, skip: int = 1) -> bytes:
    """An exception in words, for a caller that unpickles nothing."""
    facts = in_words(error, skip)
    for name, most in _MOST_WORDS.items():
        facts[name] = _shortened(facts[name], most)
    try:
        arguments: Any = built_in_base(type(error)).__reduce__(error)[1]
    except Exception:
        arguments = ()
    is_short = len(arguments) <= _MOST_ARGUMENTS and all(map(_is_short, arguments))
    facts["arguments"] = list(arguments) if is_short else None
    return plain_values.dumps(facts)[0]


def _is_short(value: Any) -> bool:
    is_number = value is None or type(value) in (bool, int, float)
    return is_number or (type(value) in (str, bytes) and len(value) < _MOST_ARGUMENT)


def _shortened(text: str, most: int) -> str:
    """The beginning and the end of a long text."""
    return text if len(text) <= most else "%s\n[...]\n%s" % (text[: most // 2], text[-most // 2 :])


def in_words(error: BaseException, skip: int = 0) -> dict[str, Any]:
    """An exception as plain values; of one about memory also what held it. `skip` frames are ours."""
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
    return {
        "module": kind.__module__,
        "name": kind.__qualname__,
        "type": kind.__name__,
        "text": _text(error),
        "traceback": text,
        "bases": bases,
        "model_file": _model_file(error),
        "refusal": getattr(error, "refusal", None) if kind.__name__ == "SamplesRefused" else None,
        "memory": variables.describe(error, skip) if variables.is_out_of_memory(error) else None,
    }


def _model_file(error: BaseException) -> str:
    """The model that a runtime's error is about: the one it was to open, or the only one that is open."""
    place, path, of_runtime = error.__traceback__, "", False
    while place is not None:
        frame = place.tb_frame
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _RUNTIMES:
            of_runtime, given = True, frame.f_locals.get(_PATH)
            path = given if type(given) is str else path
        place = place.tb_next
    if path or not of_runtime:
        return os.path.abspath(path) if path else ""
    found = own_resources.model_files()
    return found[0] if len(found) == 1 else ""


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(text not available)"


def _as_bytes(error: BaseException) -> tuple[bytes | None, bytes | None]:
    """The exception, and its parts where it may be that they alone can be read.

    Python's own way to read an exception calls its `__init__` with its `args`. One with an `__init__` of its
    own fails at that, or says its text twice.
    """
    kind = type(error)
    if type(kind.__init__) is _BUILT_IN_INIT and kind.__new__ is built_in_base(kind).__new__:
        pickled = _try_pickle(error)
        return pickled, _try_parts(error) if pickled is None else None
    parts = _try_parts(error)
    has_own_way = kind.__reduce__ is not built_in_base(kind).__reduce__
    has_own_way = has_own_way or kind.__reduce_ex__ is not BaseException.__reduce_ex__
    return _try_pickle(error) if has_own_way or parts is None else None, parts


def built_in_base(kind: Any) -> Any:
    """The type of Python's, or of a library in C, that an exception is built upon."""
    while kind.__flags__ & _MADE_BY_CLASS:
        kind = kind.__base__
    return kind


def _try_parts(error: BaseException) -> bytes | None:
    """Type, arguments and attributes, but for those that cannot be sent."""
    kind = type(error)
    try:
        reduced = built_in_base(kind).__reduce__(error)
    except Exception:
        return None
    arguments, state = reduced[1], dict(reduced[2]) if len(reduced) > 2 and reduced[2] else {}
    body = _try_pickle((kind, arguments, state))
    if body is not None:
        return body
    state = {name: value for name, value in state.items() if can_go(value)}
    return _try_pickle((kind, arguments, state)) or _try_pickle((kind, (_text(error),), state))


def _try_pickle(value: Any) -> bytes | None:
    try:
        body, apart = pickling.dumps(value)
        return pickle.dumps(value, 5) if apart else body
    except Exception:
        return None


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
            if not can_go(part):
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


def can_go(value: Any) -> bool:
    """True if a value can be sent."""
    try:
        pickling.dumps(value)
    except Exception:
        return False
    return True
