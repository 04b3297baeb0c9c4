"""The state of the global random generators, `random` and `numpy.random`, carried only when it has changed.

To ask for a state takes longer than a whole guarded call should. To see whether it has changed it is enough
to look at the memory in which it lies, which takes a few hundred nanoseconds.
"""

from __future__ import annotations

import _random
import ctypes
import importlib
import platform
import random
import sys
from typing import Any

_HEAD_BYTES = object.__basicsize__  # the count of references changes all the time
_MERSENNE_BYTES = 625 * 4  # numpy/random/src/mt19937/mt19937.h: 624 words and a position


class RandomWatch:
    """Knows the states it last saw; `None` stands for a generator that is not there."""

    def __init__(self, *, follows: bool = False) -> None:
        """Nothing has been seen; who `follows` looks at numpy's state only if it was given one."""
        self._follows_numpy = not follows
        self._is_cpython = platform.python_implementation() == "CPython"
        self._python: Any = None
        self._numpy: Any = None
        self._python_generator: Any = None  # kept, and with it the memory that is looked at
        self._python_memory: memoryview | None = None
        self._numpy_generator: Any = None
        self._numpy_memory: memoryview | None = None

    def changed(self) -> bool:
        """True if a state differs from the one last seen."""
        python, numpy = self._look()
        if python == self._python and numpy == self._numpy:
            return False
        self._python, self._numpy = python, numpy
        return True

    def state(self) -> tuple[Any, Any]:
        """Both states, as their own modules give them."""
        numpy = sys.modules.get("numpy.random") if self._follows_numpy else None
        return random.getstate(), None if numpy is None else numpy.get_state(legacy=False)

    def apply(self, state: tuple[Any, Any]) -> None:
        """Set both states, and take them as seen."""
        random.setstate(state[0])
        self._follows_numpy = state[1] is not None
        if state[1] is not None:
            try:
                numpy = importlib.import_module("numpy.random")
            except ImportError:
                pass
            else:
                numpy.set_state(state[1])
        self.changed()

    def _look(self) -> tuple[Any, Any]:
        return self._look_at_python(), self._look_at_numpy()

    def _look_at_python(self) -> Any:
        if not self._is_cpython:
            return random.getstate()
        generator = random.random.__self__  # type: ignore[attr-defined,unused-ignore]
        if generator is not self._python_generator:
            self._python_generator = generator
            size = _random.Random.__basicsize__ - _HEAD_BYTES
            self._python_memory = _memory(id(generator) + _HEAD_BYTES, size)
        assert self._python_memory is not None
        return self._python_memory.tobytes()

    def _look_at_numpy(self) -> Any:
        numpy = sys.modules.get("numpy.random") if self._follows_numpy else None
        if numpy is None:
            return None
        generator = _generator(numpy)
        if generator is not self._numpy_generator:
            address = _address(generator)
            self._numpy_generator = generator
            self._numpy_memory = _memory(address, _MERSENNE_BYTES) if address else None
        if self._numpy_memory is not None:
            return self._numpy_memory.tobytes()
        return repr(numpy.get_state(legacy=False))


def _memory(address: int, size: int) -> memoryview:
    """The memory at an address, to look at often: a third of the time of `ctypes.string_at`."""
    return memoryview((ctypes.c_char * size).from_address(address))


def _generator(numpy: Any) -> Any:
    """The generator behind the global functions; it can be replaced."""
    # numpy.random.get_bit_generator() says the same from 1.24 on, and takes as long.
    return getattr(getattr(numpy.mtrand, "_rand", None), "_bit_generator", None)


def _address(generator: Any) -> int:
    """Where its state lies; 0 if it is none of the usual kind."""
    if type(generator).__name__ != "MT19937":
        return 0
    try:
        return int(generator.ctypes.state_address)
    except (AttributeError, TypeError, ValueError):
        return 0
