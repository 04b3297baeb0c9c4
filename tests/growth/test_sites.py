"""The lines that asked for memory that never came back, where memray can say so."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from typing import Any

import pytest

import outlive

pytestmark = pytest.mark.skipif(importlib.util.find_spec("memray") is None, reason="pip install memray")
ZLIB = ctypes.util.find_library("z")
_STREAM_BYTES = 112  # zlib.h, z_stream on 64 bits


def never_ended() -> None:
    library = ctypes.CDLL(ZLIB)
    library.zlibVersion.restype = ctypes.c_char_p
    stream = ctypes.create_string_buffer(_STREAM_BYTES)
    library.deflateInit_(stream, 6, library.zlibVersion(), _STREAM_BYTES)


@pytest.mark.skipif(ZLIB is None, reason="there is no libz here")
def test_a_native_leak_names_the_function_and_the_line() -> None:
    growth = outlive.leak(never_ended, repeat=25)
    (stage,) = growth.stages
    assert stage.census is not None
    name, per_round = stage.census.sites[0]
    assert name.startswith("deflateInit")
    assert "test_sites.py" in name
    assert "in never_ended" in name
    assert per_round == pytest.approx(stage.bytes_per_iteration, rel=0.2)
    (finding,) = growth.findings
    told = {evidence.source: evidence.fact for evidence in finding.evidence}
    assert finding.code == "G601"
    assert name in told["memray"]


def test_without_it_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec

    def find(name: str, *rest: Any) -> Any:
        return None if name == "memray" else found(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    kept: list[bytearray] = []
    growth = outlive.leak(lambda: kept.append(bytearray(300_000)), repeat=25)
    census = growth.stages[0].census
    assert census is not None
    assert census.sites == ()
