"""A cycle again and again in this process, and a row of numbers after each round, as the bounds say.

Rows are yielded and never kept: what grows must be the cycle's own. What to do and when to stop are plain
values, so that this file needs nothing of the program that asks:

    target   a function; or {"script": path, "function": name}; or {"model": {...}, "cycle": name}
    bounds   {"calls", "most_calls", "most_seconds", "most_bytes", "least_rows", "fewest_rows", "quiet"}
"""

from __future__ import annotations

import gc
import time
from typing import Any, Callable, Iterator

from . import gauge, targets

# So many rounds are measured one by one; then one in a hundred, or measuring would take the longest.
_ONE_BY_ONE = 200
_SHARE = 100
# A leak of these is clear long before, and the system has few of them.
_MOST_DESCRIPTORS, _MOST_THREADS = 400, 200


def rounds(target: Any, bounds: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row before the first round, and one after each that is measured."""
    targets.silence_output(bounds)
    action = targets.make_action(target)
    calls, rows, busy = 0, 0, 0.0
    row = first = dict(gauge.read(), calls=0, call_seconds=0.0)
    yield row
    while not _is_over(bounds, calls, rows, row, first):
        count = _stride(calls, bounds)
        busy += _repeat(action, count)
        calls, rows = calls + count, rows + 1
        if rows == 1:
            # What exists now is no concern of ours, and collecting is quick without it.
            gc.collect()
            gc.freeze()
        row = dict(gauge.read(), calls=calls, call_seconds=busy)
        yield row


def _repeat(action: Callable[[], None], count: int) -> float:
    start = time.monotonic()
    for _ in range(count):
        action()
    return time.monotonic() - start


def _stride(calls: int, bounds: dict[str, Any]) -> int:
    """How many rounds until the next row."""
    if calls < _ONE_BY_ONE:
        return 1
    stride = max(1, calls // _SHARE)
    return stride if bounds["calls"] is None else max(1, min(stride, bounds["calls"] - calls))


def _is_over(
    bounds: dict[str, Any], calls: int, rows: int, row: dict[str, Any], first: dict[str, Any]
) -> bool:
    if bounds["calls"] is not None:
        return bool(calls >= bounds["calls"])
    if rows < bounds["least_rows"]:
        return bool(rows >= bounds["fewest_rows"] and _grown(row, first) >= 2 * bounds["most_bytes"])
    return bool(
        calls >= bounds["most_calls"]
        or row["at"] - first["at"] >= bounds["most_seconds"]
        or _grown(row, first) >= bounds["most_bytes"]
        or _added(row, first, "descriptors") >= _MOST_DESCRIPTORS
        or _added(row, first, "threads") >= _MOST_THREADS
    )


def _added(row: dict[str, Any], first: dict[str, Any], what: str) -> int:
    return int((row[what] or 0) - (first[what] or 0))


def _grown(row: dict[str, Any], first: dict[str, Any]) -> int:
    """What was added since the beginning: the larger of what is in RAM and what malloc gave out."""
    held = _added(row, first, "private_bytes") + _added(row, first, "shared_bytes")
    return max(held, _added(row, first, "heap_bytes"))
