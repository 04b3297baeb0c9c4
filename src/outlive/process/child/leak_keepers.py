"""Who keeps an object alive: the chain from it up to a module, a closure, a class or a running function."""

from __future__ import annotations

import functools
import gc
import types
from typing import Any

_MOST_LINKS = 8
# Each look asks all objects there are whether they refer to this one: 20 ms for some hundred thousand.
_MOST_LOOKS = 64
_LOOKING: tuple[type, ...] = (type(iter([])), type(iter(())), type(iter({}.values())), type(map(id, ())))
CACHE = type(functools.lru_cache(lambda: None))


def chain(found: list[Any], at: int) -> list[str]:
    """Names from the outermost keeper down to the object found[at]; empty if nobody else refers to it."""
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
    if not isinstance(found, CACHE):
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
