"""Values as bytes and back: plain pickle where it does, cloudpickle where it does not, buffers apart.

Small buffers stay in the pickle; large ones are handed out, to be laid in shared memory. What is defined in
the caller's `__main__` is sent by value: the worker's `__main__` is another one.
"""

from __future__ import annotations

import io
import pickle
import types
from collections.abc import Callable
from typing import Any

# Below this a buffer is quicker in the pickle than in shared memory.
_LEAST_APART_BYTES = 1 << 13
_NOT_PLAIN = (pickle.PicklingError, AttributeError, TypeError, NotImplementedError)
# Iterators that are nothing but that. Others may be more, and are sent whole if they can be.
BARE_ITERATORS: tuple[Any, ...] = (
    types.GeneratorType,
    map,
    filter,
    zip,
    enumerate,
    reversed,
    type(iter([])),
    type(iter(())),
    type(iter(range(0))),
    type(iter({})),
    type(iter({}.values())),
    type(iter({}.items())),
    type(iter(set())),
    type(iter("")),
    type(iter(b"")),
)
_SMALL = frozenset({int, float, bool, str, type(None)})
Named = Callable[[Any], Any]


def dumps(value: Any, name: Named | None = None) -> tuple[bytes, list[memoryview]]:
    """The value as bytes, and its large buffers.

    `name` may give an object a name to send in its place: then every object is asked, in the slow way.
    """
    apart: list[memoryview] = []
    if name is None:
        try:
            body = pickle.dumps(value, 5, buffer_callback=_keeper(apart))
        except _NOT_PLAIN:
            body = b""
        if body and b"__main__" not in body and not _registry:
            return body, apart
        apart = []
    return _slow_dumps(value, name, apart), apart


def is_array(value: Any) -> bool:
    """True for a plain array of numpy's: to read its pickle does not look at its numbers."""
    return type(value).__name__ == "ndarray" and type(value).__module__ == "numpy"


def are_arrays(values: Any) -> bool:
    """True for plain arrays, and other things that are small."""
    for value in values:  # noqa: SIM110 - half the time of all() over a generator
        if type(value) not in _SMALL and not is_array(value):
            return False
    return True


def _find_registry() -> Any:
    """The names of modules that the user wants sent by value, as cloudpickle keeps them."""
    try:
        from cloudpickle import cloudpickle
    except ImportError:
        return ()
    return getattr(cloudpickle, "_PICKLE_BY_VALUE_MODULES", ())


_registry = _find_registry()


def loads(body: Any, buffers: Any = (), found: Named | None = None) -> Any:
    """The value; `found` gives the object for a name."""
    if found is None:
        return pickle.loads(body, buffers=buffers)
    return _NamedUnpickler(io.BytesIO(body), buffers, found).load()


def _keeper(apart: list[memoryview]) -> Callable[[Any], bool]:
    def keep(buffer: Any) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _LEAST_APART_BYTES:
            return True  # true means: stays in
        apart.append(raw)
        return False

    return keep


def _slow_dumps(value: Any, name: Named | None, apart: list[memoryview]) -> bytes:
    import cloudpickle

    class Namer(cloudpickle.CloudPickler):  # type: ignore[misc,unused-ignore]
        def persistent_id(self, thing: Any) -> Any:
            return None if name is None else name(thing)

    with io.BytesIO() as file:
        pickler = (cloudpickle.CloudPickler if name is None else Namer)(
            file, 5, buffer_callback=_keeper(apart)
        )
        pickler.dump(value)
        return file.getvalue()


class _NamedUnpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, buffers: Any, found: Named) -> None:
        super().__init__(file, buffers=buffers)
        self._found = found

    def persistent_load(self, name: Any) -> Any:
        return self._found(name)
