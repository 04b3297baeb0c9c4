"""What some rounds leave behind, by name: Python objects and who keeps them, descriptors, threads, mappings.

A few rounds warm up; then everything there is counts as old, some more rounds run, and what is new is named:
containers that became longer, with what was put into them, and objects of types that became more.
"""

from __future__ import annotations

import collections
import functools
import gc
import sys
import threading
import types
from typing import Any, Iterable

from ..operating_system import own_resources
from . import gauge, targets

_MOST_LINKS = 8
# Each look asks all objects there are whether they refer to this one: 20 ms for some hundred thousand.
_MOST_LOOKS = 64
_LOOKING: tuple[type, ...] = (type(iter([])), type(iter(())), type(iter({}.values())), type(map(id, ())))
# A cache of functools is a container too.
_CACHE = type(functools.lru_cache(lambda: None))
_CONTAINERS = (list, dict, set, collections.deque)
_MOST_NAMED = 5
_FEW_ROUNDS = 10
# An object's size is that of all it refers to, as far as that can be seen and within reason.
_MOST_PARTS, _MOST_INNER = 50_000, 100
# Parts that all objects share are no part of any.
_SHARED = (type, type(sys), type(len), type(gauge.read), type(None), bool)


def census(target: Any, warm: int, count: int, bounds: dict[str, Any]) -> dict[str, Any]:
    """Run `warm` rounds, then `count` more, and name what the latter left behind, per round."""
    targets.silence_output(bounds)
    action = targets.make_action(target)
    for _ in range(warm):
        action()
    gauge.settle()
    before = _outside()
    lengths = {id(item): _length(item) for item in _containers()}
    gc.freeze()
    for _ in range(count):
        action()
    gauge.settle()
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
        if kind in _CONTAINERS or kind is _CACHE:
            yield item
        if kind is dict:
            inner = list(item.values())
        elif kind is types.CellType:
            inner = gc.get_referents(item)
        else:
            continue
        yield from (value for value in inner if type(value) is dict and not gc.is_tracked(value))


def _length(item: Any) -> int:
    return int(item.cache_info().currsize if type(item) is _CACHE else len(item))


def _outside() -> dict[str, collections.Counter[str]]:
    """What the process holds that is no Python object, counted by name; mappings in bytes."""
    mappings: collections.Counter[str] = collections.Counter()
    for size, name in own_resources.mappings():
        mappings[name or "anonymous"] += size
    return {
        "descriptors": collections.Counter(own_resources.descriptor_names()),
        "threads": collections.Counter(thread.name for thread in threading.enumerate()),
        "mappings": mappings,
    }


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
        "kept_by": keeper_chain(grown, at),
    }


def _describe_type(samples: list[Any], at: int, per_round: float) -> dict[str, Any]:
    """A type of which there are more objects: how large one is, and who keeps one of them."""
    return {
        "kind": type_name(type(samples[at])),
        "per_round": per_round,
        "bytes_each": size_of(samples[at]),
        "plain": _is_plain(samples[at]),
        "kept_by": keeper_chain(samples, at),
    }


def _newest(item: Any, more: int) -> list[Any]:
    """What was put into a container last; of a set anything."""
    try:
        if type(item) is _CACHE:
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


def keeper_chain(found: list[Any], at: int) -> list[str]:
    """Names from the outermost keeper down to the object found[at]; empty if nothing else refers to it."""
    links: list[str] = []
    ignored = {id(found)}
    current = found[at]
    for _ in range(_MOST_LOOKS):
        referrers = [other for other in gc.get_referrers(current) if _counts(other, ignored)]
        link, keeper = _best(current, referrers)
        # Going round in a circle explains nothing; and what we look with is no keeper.
        ignored |= {id(current), id(referrers)}
        if link and links[-1:] != [link]:  # a list that is linked by hand has one link for all
            links.append(link)
        if keeper is None or len(links) == _MOST_LINKS:
            break
        current = keeper
    links.reverse()
    return links


def _counts(other: Any, ignored: set[int]) -> bool:
    """False for what refers to an object only because we are looking at it."""
    if id(other) in ignored or isinstance(other, _LOOKING):
        return False
    return not (isinstance(other, types.FrameType) and _is_ours(other.f_globals.get("__name__", "")))


def _is_ours(module: str) -> bool:
    return ".child." in module or module.startswith("outlive_child")


def _best(item: Any, referrers: list[Any]) -> tuple[str, Any]:
    """The referrer that explains most: the name of the link, and where to go on; None at the end."""
    for look in (_as_global, _as_running, _as_closure, _as_cache, _as_attribute, _as_element):
        for found in referrers:
            answer = look(item, found)
            if answer is not None:
                return answer
    return "", None


def _as_global(item: Any, found: Any) -> tuple[str, Any] | None:
    """A variable of a module, also of one that came without its module, as a function sent here does."""
    if type(found) is not dict or "__name__" not in found or "__builtins__" not in found:
        return None
    name = _key(found, item)
    return None if name is None else ("global variable %s of %s" % (name, found["__name__"]), None)


def _as_running(item: Any, found: Any) -> tuple[str, Any] | None:
    if isinstance(found, types.GeneratorType) and found.gi_frame is not None:
        name = _key(found.gi_frame.f_locals, item)
        return "variable %s of the generator %s()" % (name or "", found.__qualname__), None
    if not isinstance(found, types.FrameType):
        return None
    name = _key(found.f_locals, item)
    return ("variable %s of %s(), which is running" % (name or "", found.f_code.co_name), None)


def _as_closure(item: Any, found: Any) -> tuple[str, Any] | None:
    """A variable that a function has from the one it was made in, or a default of its parameters."""
    if type(found) is tuple:
        for function in _functions(found):
            if function.__defaults__ == found:
                return "default argument of %s()" % function.__qualname__, None
    if not isinstance(found, types.CellType):
        return None
    closures = [other for other in gc.get_referrers(found) if isinstance(other, tuple)]
    for function in (other for cells in closures for other in _functions(cells)):
        if found in (function.__closure__ or ()):
            name = function.__code__.co_freevars[(function.__closure__ or ()).index(found)]
            return "variable %s in the closure of %s()" % (name, function.__qualname__), None
    return None


def _functions(item: Any) -> list[types.FunctionType]:
    return [other for other in gc.get_referrers(item) if isinstance(other, types.FunctionType)]


def _as_cache(item: Any, found: Any) -> tuple[str, Any] | None:
    if not isinstance(found, _CACHE):
        return None
    return "functools.lru_cache of %s()" % getattr(found, "__qualname__", "a function"), None


def _as_attribute(item: Any, found: Any) -> tuple[str, Any] | None:
    """An attribute of an object or a class, whose dictionary is of no interest by itself."""
    if isinstance(found, type):
        name = _key(vars(found), item)
        return None if name is None else ("class attribute %s.%s" % (found.__qualname__, name), None)
    if type(found) is dict:
        for owner in gc.get_referrers(found):
            if isinstance(owner, type) or getattr(owner, "__dict__", None) is found:
                name = _key(found, item)
                return "attribute %s of %s" % (name, _type_name(owner)), owner
        return None
    # Python 3.11 and later keep attributes in the object itself.
    name = _key(getattr(found, "__dict__", None), item)
    return None if name is None else ("attribute %s of %s" % (name, _type_name(found)), found)


def _as_element(item: Any, found: Any) -> tuple[str, Any] | None:
    if isinstance(found, types.FrameType):
        return None
    return "a %s" % _type_name(found), found


def _key(mapping: Any, item: Any) -> str | None:
    """The name under which a mapping has the object."""
    if not isinstance(mapping, (dict, types.MappingProxyType)):
        return None
    for key, value in list(mapping.items()):
        if value is item and isinstance(key, str):
            return key
    return None


def _type_name(item: Any) -> str:
    kind = item if isinstance(item, type) else type(item)
    home = getattr(kind, "__module__", "")
    return kind.__qualname__ if home in ("builtins", "", None) else "%s.%s" % (home, kind.__qualname__)
