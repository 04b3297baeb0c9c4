"""Which outputs a run never wrote: two runs in memory that was filled with different bytes beforehand.

What a kernel wrote is the same in both. What it left alone still holds what the memory was filled with, and
that is how stale and random results are made: nothing in the runtime's own memory is changed to find out.
"""

from __future__ import annotations

import platform
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.interpreter.running import fly
from outlive.interpreter.verdicts import Judge
from outlive.process.factories import close_special_factories
from outlive.process.flight import Flight

# glibc fills memory that is handed out with the complement of this byte, and freed memory with the byte
# itself (mallopt(3), M_PERTURB). No two of the four are the same.
_PATTERNS = (0xA5, 0x3C)


def fly_twice(inputs: Any, repeat: int, seed: int, *, judge: Judge, **arguments: Any) -> Flight:
    """The second of two flights, with the bytes of each output that neither wrote.

    Or the first flight that went wrong.
    """
    flights: list[Flight] = []
    try:
        for pattern in _PATTERNS:
            surroundings = {"MALLOC_PERTURB_": str(pattern)}
            flights.append(fly(inputs, repeat, seed, judge=judge, _environment=surroundings, **arguments))
            if flights[-1].died or flights[-1].error_type:
                return flights[-1]
    finally:
        close_special_factories()
    return _compare(*flights)


def can_watch() -> bool:
    """True where memory can be filled beforehand."""
    return platform.libc_ver()[0] == "glibc"


def _compare(first: Flight, second: Flight) -> Flight:
    outputs = []
    names = [seen.name for seen in second.outputs]
    for seen in second.outputs:
        before, after = first.values.get(seen.name), second.values.get(seen.name)
        left = None
        # Values are kept by name: of two outputs with one name, nothing is known of the first.
        if (
            can_watch()
            and names.count(seen.name) == 1
            and before is not None
            and after is not None
            and before.dtype.kind != "O"
        ):
            left = untouched_bytes(before, after)
        outputs.append(replace(seen, untouched_bytes=left))
    return replace(second, outputs=tuple(outputs))


def untouched_bytes(first: NDArray[Any], second: NDArray[Any]) -> int | None:
    """How many bytes hold what the memory was filled with, both times; None if they cannot be compared.

    Bytes that differ and are something else come from random numbers, and then nothing is certain.
    """
    if first.shape != second.shape or first.dtype != second.dtype:
        return None
    ours = np.frombuffer(np.ascontiguousarray(first).tobytes(), np.uint8)
    theirs = np.frombuffer(np.ascontiguousarray(second).tobytes(), np.uint8)
    differ = ours != theirs
    filled = _is_filled(ours, _PATTERNS[0]) & _is_filled(theirs, _PATTERNS[1])
    return int(filled.sum()) if bool((differ == filled).all()) else 0


def _is_filled(values: NDArray[np.uint8], pattern: int) -> NDArray[np.bool_]:
    return np.asarray((values == pattern) | (values == pattern ^ 0xFF))
