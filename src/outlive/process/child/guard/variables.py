"""What the running functions hold when memory runs out: their largest variables, and where they were.

Looked at while the exception still keeps the frames alive, and with little memory: nothing is copied.
"""

from __future__ import annotations

import collections
import contextlib
import faulthandler
import itertools
import json
import os
import signal
import sys
from types import FrameType
from typing import Any, Iterator

from ..operating_system import own_process

# A worker that gets it writes its Python stack and goes on. By default it is ignored. Calls of the system
# that it interrupts are taken up again: `siginterrupt`, each time anew, because faulthandler sets its handler
# anew when it has called another (CPython, Modules/faulthandler.c).
LOOK = getattr(signal, "SIGURG", None)
MARK = "variables: "
_OURS = ("outlive.", "outlive_child", "runpy")
_OUT_OF_MEMORY = ("ResourceExhaustedError", "OutOfMemoryError")
_BOXES = (
    list,
    tuple,
    set,
    frozenset,
    dict,
    collections.deque,
    collections.OrderedDict,
    collections.defaultdict,
)
_ARRAYS = ("numpy", "torch", "jaxlib", "tensorflow")
_MOST_NAMED, _LEAST_BYTES = 3, 1 << 20
# Of many items some stand for all, and what lies deeper is not looked at.
_MOST_ITEMS, _DEEPEST, _MOST_FRAMES = 64, 3, 100


def write_stack_on_signal(file: Any) -> None:
    """Let the caller ask where a call stands and what it holds, while it stands there."""
    if LOOK is None or not hasattr(faulthandler, "register"):
        return

    def tell(_: int, frame: FrameType | None) -> None:
        signal.siginterrupt(LOOK, False)
        frames: list[FrameType] = []
        while frame is not None and len(frames) < _MOST_FRAMES:
            frames.append(frame)
            frame = frame.f_back
        with contextlib.suppress(Exception):
            os.write(file.fileno(), ("%s%s\n" % (MARK, json.dumps(_largest(frames[::-1])))).encode())

    # Python's own handler runs when the interpreter gets to it, faulthandler's at once.
    signal.signal(LOOK, tell)
    faulthandler.register(LOOK, file, all_threads=False, chain=True)
    signal.siginterrupt(LOOK, False)


def is_out_of_memory(error: BaseException) -> bool:
    """True for Python's MemoryError, numpy's kind of it, and what TensorFlow and PyTorch raise instead."""
    return isinstance(error, MemoryError) or type(error).__name__ in _OUT_OF_MEMORY


def describe(error: BaseException, skip: int) -> dict[str, Any]:
    """What is held, the Python stack as faulthandler writes it, and the largest variables on it.

    `skip` frames are ours.
    """
    frames, place = [], error.__traceback__
    while place is not None:
        frames.append((place.tb_frame, place.tb_lineno))
        place = place.tb_next
    frames = frames[skip:][-_MOST_FRAMES:]
    lines = ['  File "%s", line %d in %s' % (_file(at), line, at.f_code.co_name) for at, line in frames[::-1]]
    try:
        variables = _largest([frame for frame, _ in frames])
    except Exception:  # an object whose length or size cannot be asked for
        variables = []
    trace = "\n".join(["Current thread (most recent call first):", *lines])
    return {"trace": trace, "variables": variables, "held": own_process.own_sizes()}


def _file(frame: FrameType) -> str:
    return frame.f_code.co_filename


def _largest(frames: list[FrameType]) -> list[dict[str, Any]]:
    """The variables that hold most: of these functions, and of their modules if they name them."""
    found = {}
    for name, value in itertools.chain.from_iterable(map(_names, reversed(frames))):
        if id(value) not in found:
            found[id(value)] = _sight(name, value)
    large = [row for row in found.values() if row["bytes"] >= _LEAST_BYTES]
    return sorted(large, key=lambda row: -row["bytes"])[:_MOST_NAMED]


def _names(frame: FrameType) -> Iterator[tuple[str, Any]]:
    if str(frame.f_globals.get("__name__", "")).startswith(_OURS):
        return
    named = [(name, frame.f_globals[name]) for name in frame.f_code.co_names if name in frame.f_globals]
    for name, value in [*frame.f_locals.items(), *named]:
        kind = type(value)
        if issubclass(kind, (type, type(sys))) or callable(value) or value is frame.f_globals:
            continue
        yield name, value
        # Not by the object's own ways, which may be code of the user's.
        try:
            inside = object.__getattribute__(value, "__dict__")
        except AttributeError:
            continue
        if type(inside) is dict:
            yield from (("%s.%s" % (name, key), part) for key, part in list(inside.items()))


def _sight(name: str, value: Any) -> dict[str, Any]:
    items = len(value) if type(value) in _BOXES else 0
    return {"name": name[:80], "type": type(value).__name__[:80], "items": items, "bytes": int(_size(value))}


def size_of(value: Any, depth: int) -> int:
    """Bytes of a value and what it holds, so many levels deep."""
    return int(_size(value, depth))


def _size(value: Any, depth: int = _DEEPEST) -> float:
    """Bytes of a value and what it holds, as far as no code of the user's has to be asked."""
    kind = type(value)
    if kind.__module__.partition(".")[0] in _ARRAYS:
        own = getattr(value, "nbytes", None)  # views count for what they show
        return own if isinstance(own, int) else 0
    if kind not in _BOXES:
        return sys.getsizeof(value, 0) if kind.__module__ in ("builtins", "array", "mmap") else 0
    total: float = sys.getsizeof(value, 0)
    if value and depth:
        inner = value.values() if isinstance(value, dict) else value
        # An even spread: the first items may be smaller than the later ones.
        some = list(itertools.islice(inner, 0, None, max(1, len(value) // _MOST_ITEMS)))
        total += sum(_size(item, depth - 1) for item in some) * len(value) / len(some)
    return total
