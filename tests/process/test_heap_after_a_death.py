"""The heap that workers are forked with: looking into a death must not change what the next model takes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

# Whether malloc maps a piece by itself, as it does until a larger one that was mapped is freed; before and
# after the symbols of a library are read.
CODE = """
import ctypes, sys
from outlive.platforms.posix.child.tracing.elf import ElfFile
from outlive.platforms.posix.child.tracing.symbols import SymbolTable

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.malloc.argtypes = (ctypes.c_size_t,)

def is_mapped():
    place = library.malloc(400 * 1024)
    with open("/proc/self/maps") as maps:
        heap = next(line.split()[0] for line in maps if "[heap]" in line)
    start, end = (int(word, 16) for word in heap.split("-"))
    return not start <= place < end

before = is_mapped()
for table in [SymbolTable(ElfFile(path)) for path in sys.argv[1:]]:
    table.find(1 << 40)  # sorts what is there
print(before, is_mapped())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the heap is read from /proc, which only Linux has")
def test_reading_symbols_frees_no_large_piece_of_the_heap() -> None:
    found = importlib.util.find_spec("ai_edge_litert")
    assert found is not None
    folder = Path(next(iter(found.submodule_search_locations or [])))
    command = [sys.executable, "-c", CODE, *map(str, folder.glob("*.so"))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.stdout.split() == ["True", "True"], ran.stderr
