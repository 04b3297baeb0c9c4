"""Options of custom operators: a FlexBuffer map, read with every offset checked.

Format: google/flatbuffers, include/flatbuffers/flexbuffers.h.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

_INT, _UINT, _FLOAT = 1, 2, 3
_INDIRECT = {6: _INT, 7: _UINT, 8: _FLOAT}
_MAP, _VECTOR, _BOOL = 9, 10, 26
_MOST_ENTRIES = 1024
_WIDTHS = (1, 2, 4, 8)
_FORMATS = {
    (_INT, 1): "b",
    (_INT, 2): "h",
    (_INT, 4): "i",
    (_INT, 8): "q",
    (_UINT, 1): "B",
    (_UINT, 2): "H",
    (_UINT, 4): "I",
    (_UINT, 8): "Q",
    (_FLOAT, 4): "f",
    (_FLOAT, 8): "d",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlexOptions:
    """The values of the root vector in order, and by name if it is a map; empty where nothing can be read.

    `raw` are the slots read as signed integers without asking for their type, as FlexbufferWrapper does.
    """

    raw: tuple[int, ...] = ()
    named: Mapping[str, float] = field(default_factory=dict)

    def at(self, index: int) -> int:
        """One slot as FlexbufferWrapper::ElementAsInt32 reads it."""
        return self.raw[index] if index < len(self.raw) else 0

    def get(self, name: str, default: int = 0) -> int:
        """One value by name, as an integer."""
        return int(self.named.get(name, default))


def read_options(data: memoryview | None) -> FlexOptions:
    """The options of a custom operator."""
    try:
        return _FlexbufferReader(bytes(data[:1_000_000])).root() if data is not None else FlexOptions()
    except (IndexError, struct.error, ValueError, OverflowError):
        return FlexOptions()


class _FlexbufferReader:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def root(self) -> FlexOptions:
        data = self._data
        width = data[-1]
        packed = data[-2]
        place = len(data) - 2 - width
        if width not in _WIDTHS or place < 0 or packed >> 2 not in (_MAP, _VECTOR):
            return FlexOptions()
        start = self._back(place, width)
        step = _WIDTHS[packed & 3]
        size = self._number(_UINT, start - step, step)
        if size > _MOST_ENTRIES:
            return FlexOptions()
        raw = tuple(int(self._number(_INT, start + i * step, step)) for i in range(int(size)))
        named = self._names(start, step, int(size)) if packed >> 2 == _MAP else {}
        return FlexOptions(raw=raw, named=named)

    def _names(self, start: int, step: int, size: int) -> dict[str, float]:
        keys = self._back(start - 3 * step, step)
        key_step = int(self._number(_UINT, start - 2 * step, step))
        if key_step not in _WIDTHS:
            return {}
        found = {}
        for i in range(size):
            name = self._text(self._back(keys + i * key_step, key_step))
            value = self._value(start + i * step, step, self._data[start + size * step + i])
            if value is not None:
                found[name] = value
        return found

    def _value(self, place: int, width: int, packed: int) -> float | None:
        kind = packed >> 2
        if kind == _BOOL:
            kind = _UINT
        if kind in _INDIRECT:
            place, width, kind = self._back(place, width), _WIDTHS[packed & 3], _INDIRECT[kind]
        return self._number(kind, place, width) if (kind, width) in _FORMATS else None

    def _text(self, place: int) -> str:
        end = self._data.index(0, place)
        return self._data[place:end].decode("utf-8", "replace")

    def _back(self, place: int, width: int) -> int:
        found = place - int(self._number(_UINT, place, width))
        if found < 0:
            raise IndexError
        return found

    def _number(self, kind: int, place: int, width: int) -> float:
        if place < 0:
            raise IndexError
        (value,) = struct.unpack_from("<" + _FORMATS[kind, width], self._data, place)
        number: float = value
        return number
