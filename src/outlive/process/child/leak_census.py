"""What some rounds leave behind, by name: Python objects and who keeps them, descriptors, threads, mappings.

A few rounds warm up; then everything there is counts as old, some more rounds run, and what is new is named:
containers that became longer, with what was put into them, and objects of types that became more.
"""

from __future__ import annotations

import collections
import gc
import os
import sys
import threading
import types
from typing import Any, Iterable

from . import leak_gauge, leak_keepers, leak_targets

_CONTAINERS = (list, dict, set, collections.deque)
_MOST_NAMED = 5
_FEW_ROUNDS = 10
# An object's size is that of all it refers to, as far as that can be seen and within reason.
_MOST_PARTS, _MOST_INNER = 50_000, 100
# Parts that everybody shares are no part of anybody.
_SHARED = (type, type(sys), type(len), type(leak_gauge.read), type(None), bool)


def census(target: Any, warm: int, count: int, bounds: dict[str, Any]) -> dict[str, Any]:
    """Run `warm` rounds, then `count` more, and name what the latter left behind, per round."""
    leak_targets.be_quiet(bounds)
    action = leak_targets.make_action(target)
    for _ in range(warm):
        action()
    leak_gauge.settle()
    before = _outside()
    lengths = {id(item): _length(item) for item in _containers()}
    gc.freeze()
    for _ in range(count):
        action()
    leak_gauge.settle()
    # First of all: what we make ourselves from here on is new, too.
    numbers, samples = _fresh_types(gc.get_objects(), count)
    after = _outside()
    gc.unfreeze()
    more, grown = _grown_containers(lengths, count)
    return {
        "rounds": count,
        # By index, and from lists that hold nothing else: what we hold ourselves must be easy to leave out.
        "keepers": [_describe(grown, at, more[at], count) for at in range(len(grown))],
        "types": [_describe_type(samples, at, numbers[at] / count) for at in range(len(samples))],
        "descriptors": _difference(before["descriptors"], after["descriptors"], count),
        "threads": _difference(before["threads"], after["threads"], count),
        "mappings": _difference(before["mappings"], after["mappings"], count),
    }


def _containers() -> Iterable[Any]:
    """Everything that can become longer, also dictionaries that the collector does not follow.

    It leaves out those that hold numbers and texts only; the ones worth naming are values of others.
    """
    for item in gc.get_objects():
        kind = type(item)
        if kind in _CONTAINERS or kind is leak_keepers.CACHE:
            yield item
        if kind is dict:
            inner = list(item.values())
        elif kind is types.CellType:
            inner = gc.get_referents(item)
        else:
            continue
        yield from (value for value in inner if type(value) is dict and not gc.is_tracked(value))


def _length(item: Any) -> int:
    return int(item.cache_info().currsize if type(item) is leak_keepers.CACHE else len(item))


def _outside() -> dict[str, collections.Counter[str]]:
    """What the process holds that is no Python object, counted by name; mappings in bytes."""
    mappings: collections.Counter[str] = collections.Counter()
    try:
        with open("/proc/self/maps", "rb") as file:
            for size, name in leak_gauge.usable_mappings(file.read()):
                mappings[name.decode(errors="replace") or "anonymous"] += size
    except (OSError, ValueError):
        pass
    return {
        "descriptors": collections.Counter(_descriptor_names()),
        "threads": collections.Counter(thread.name for thread in threading.enumerate()),
        "mappings": mappings,
    }


def _descriptor_names() -> Iterable[str]:
    """What each descriptor leads to; numbers that tell two of a kind apart are left out."""
    try:
        numbers = os.listdir("/proc/self/fd")
    except OSError:
        return
    for number in numbers:
        try:
            name = os.readlink("/proc/self/fd/" + number)
        except OSError:
            continue
        yield name if name.startswith("/") else name.partition(":[")[0]


def _difference(
    before: collections.Counter[str], after: collections.Counter[str], count: int
) -> list[dict[str, Any]]:
    more = [
        (name, size - before[name]) for name, size in after.items() if size - before[name] >= _enough(count)
    ]
    more.sort(key=lambda item: -item[1])
    return [{"name": name, "per_round": size / count} for name, size in more[:_MOST_NAMED]]


def _enough(count: int) -> float:
    """How many more of a kind are worth a name: one in two rounds; in few rounds one in each."""
    return count if count < _FEW_ROUNDS else count / 2


def _fresh_types(objects: list[Any], count: int) -> tuple[list[int], list[Any]]:
    """Types with at least one new object in two rounds that is still there: how many, and one of the last."""
    counts: dict[type, int] = collections.Counter()
    latest: dict[type, Any] = {}
    for item in objects:
        counts[type(item)] += 1
        latest[type(item)] = item
    objects.clear()
    most = sorted(counts, key=lambda kind: -counts[kind])
    found = [kind for kind in most if counts[kind] >= _enough(count)][:_MOST_NAMED]
    return [counts[kind] for kind in found], list(map(latest.get, found))


def _grown_containers(lengths: dict[int, int], count: int) -> tuple[list[int], list[Any]]:
    """Old containers that became longer with the rounds, the most grown first: by how much, and they."""
    grown = {}
    for item in _containers():
        more = _length(item) - lengths.get(id(item), _length(item))
        if more >= _enough(count) and item is not lengths:
            grown[id(item)] = more
    most = sorted(grown, key=lambda number: -grown[number])[:_MOST_NAMED]
    found = {id(item): item for item in _containers() if id(item) in most}
    most = [number for number in most if number in found]
    return [grown[number] for number in most], list(map(found.get, most))


def _describe(grown: list[Any], at: int, more: int, count: int) -> dict[str, Any]:
    """A container that grew: what was put into it, how large that is, and who keeps the container."""
    added = _newest(grown[at], more)
    kinds = collections.Counter(type_name(type(value)) for value in added)
    sizes = [size_of(value) for value in added[:20]]
    plain = all(_is_plain(value) for value in added[:20])
    del added
    return {
        "kind": type_name(type(grown[at])),
        "holds": kinds.most_common(1)[0][0] if kinds else "",
        "plain": plain,
        "per_round": more / count,
        "bytes_each": sum(sizes) // max(1, len(sizes)),
        "kept_by": leak_keepers.chain(grown, at),
    }


def _describe_type(samples: list[Any], at: int, per_round: float) -> dict[str, Any]:
    """A type of which there are more objects: how large one is, and who keeps one of them."""
    return {
        "kind": type_name(type(samples[at])),
        "per_round": per_round,
        "bytes_each": size_of(samples[at]),
        "plain": _is_plain(samples[at]),
        "kept_by": leak_keepers.chain(samples, at),
    }


def _newest(item: Any, more: int) -> list[Any]:
    """What was put into a container last; of a set anything."""
    try:
        if type(item) is leak_keepers.CACHE:
            # Its table holds the results, or links to them in the order of their use.
            item = next((part for part in gc.get_referents(item) if type(part) is dict), {})
        values = list(item.values()) if isinstance(item, dict) else list(item)
    except RuntimeError:  # another thread is changing it
        return []
    return values[-min(more, 200) :]


def size_of(item: Any) -> int:
    """Bytes of an object and all it refers to, as far as Python knows; of many parts some stand for all."""
    seen = {id(item)}
    waiting, total, looked_at = [(item, 1.0)], 0.0, 0
    while waiting and looked_at < _MOST_PARTS:
        part, weight = waiting.pop()
        looked_at += 1
        try:
            total += weight * sys.getsizeof(part, 0)
        except Exception:  # an object may have a __sizeof__ of its own
            continue
        inner = [other for other in _referents(part) if not isinstance(other, _SHARED)]
        # An odd step: what a dictionary refers to is by turns a key and a value.
        some = inner[:: len(inner) // _MOST_INNER | 1]
        for other in some:
            if id(other) not in seen:
                seen.add(id(other))
                waiting.append((other, weight * len(inner) / len(some)))
    return int(total)


def _referents(part: Any) -> list[Any]:
    """What an object refers to. An array is no container to the collector, but a view keeps a whole array."""
    base = getattr(part, "base", None) if type(part).__name__ == "ndarray" else None
    return gc.get_referents(part) if base is None else [base]


def _is_plain(item: Any, depth: int = 3) -> bool:
    """True for what holds no memory but that which Python counts: numbers, texts, arrays, boxes of them."""
    if isinstance(item, (list, tuple, set, dict)) and depth:
        inner = list(item.values()) if isinstance(item, dict) else list(item)
        return all(_is_plain(part, depth - 1) for part in inner[:20])
    plain = isinstance(item, (int, float, complex, str, bytes, bytearray, type(None)))
    return plain or type(item).__name__ == "ndarray" or type(item) is object


def type_name(kind: type) -> str:
    """A type's name, with its module's where that is not Python's own."""
    home = getattr(kind, "__module__", "")
    return kind.__name__ if home in ("builtins", "", None) else "%s.%s" % (home, kind.__name__)
