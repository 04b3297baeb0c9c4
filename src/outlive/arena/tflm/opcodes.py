"""Which operator codes a file gives in the newer of its two fields; TFLM's control flow knows only that one.

Source: tensorflow/lite/micro/micro_allocation_info.cc (MarkSubgraphLifetimesIfNecessary), which reads
`builtin_code`, while operators are looked up by the larger of it and `deprecated_builtin_code`. In files from
before the newer field the subgraphs of IF, WHILE and CALL_ONCE are therefore prepared, but not planned within
their callers.
"""

from __future__ import annotations

import struct

from outlive.model import Model

_MODEL_CODES_SLOT = 1  # Model.operator_codes
_CODE_SLOT = 3  # OperatorCode.builtin_code
_NUMBERS = {118: "IF", 119: "WHILE", 129: "CALL_ONCE"}
_MOST_CODES = 100_000


def recognised_control_flow(model: Model) -> frozenset[str]:
    """Those of IF, WHILE and CALL_ONCE whose code the newer field of the file gives."""
    try:
        return frozenset(_newer_codes(model.content))
    except (struct.error, IndexError):
        return frozenset()


def _newer_codes(content: memoryview) -> set[str]:
    root = _word(content, 0)
    start = _field(content, root, _MODEL_CODES_SLOT)
    if start is None:
        return set()
    vector = start + _word(content, start)
    found = set()
    for which in range(min(_word(content, vector), _MOST_CODES)):
        place = vector + 4 + 4 * which
        field = _field(content, place + _word(content, place), _CODE_SLOT)
        if field is not None:
            found.add(_NUMBERS.get(_word(content, field), ""))
    return found - {""}


def _field(content: memoryview, table: int, slot: int) -> int | None:
    (back,) = struct.unpack_from("<i", content, table)
    vtable = table - back
    if vtable < 0:
        raise IndexError
    (size,) = struct.unpack_from("<H", content, vtable)
    if 4 + 2 * slot + 2 > size:
        return None
    (offset,) = struct.unpack_from("<H", content, vtable + 4 + 2 * slot)
    return table + offset if offset else None


def _word(content: memoryview, place: int) -> int:
    (value,) = struct.unpack_from("<I", content, place)
    number: int = value
    return number
