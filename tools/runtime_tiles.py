"""The tile sizes that an installed XNNPACK chooses for each instruction set, as the library itself says.

    flags of an instruction set ──> xnn_init_hardware_config() ──> xnn_init_<kind>_config() ──> tile sizes

The wheel's library keeps the names of its functions. In a process of its own the flags of the hardware are
set to those of an instruction set, and the functions that choose microkernels are called. No microkernel
runs, so that one x86-64 can be asked about all others. A wheel for arm64 does not load on x86-64: its rows
are taken from XNNPACK's sources by hand (src/configs/gemm-config.c, dwconv-config.c), and so is what has no
such function in the library (depthwise `qs8`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from outlive.platforms.posix.child.tracing import elf, symbols

# Bits of xnn_arch_flags (src/xnnpack/hardware-config.h), as the processors have them that a row stands for.
_AVX2, _AVX512 = 0xFF, 0xFFF
_FP16, _AVX_VNNI, _VNNI, _GFNI, _AMX = 1 << 12, 1 << 14, 7 << 16, 1 << 19, 1 << 20
FLAGS = {
    "x86-sse4.1": 0xF,
    "x86-avx": 0x1F,
    "x86-avx2": _AVX2,
    "x86-avxvnni": _AVX2 | _AVX_VNNI,
    "x86-avx512": _AVX512,
    "x86-avx512vnni": _AVX512 | _VNNI,
    "x86-avx512vnni-gfni": _AVX512 | _VNNI | _GFNI,
    "x86-avx512vnni-avxvnni": _AVX512 | _VNNI | _GFNI | _AVX_VNNI,
    "x86-amx": _AVX512 | _VNNI | _GFNI | _AVX_VNNI | _FP16 | _AMX,
}
DEPTHWISE = {"f32": 4, "qs8_qc8w": 3, "qu8": 2}
_SYMBOL_BYTES = 24
# Prints a row; its arguments are the library, addresses of functions, flags (0: as they are) and kinds. The
# layouts are those of src/xnnpack/config-types.h: a gemm config begins with the microkernels for 1 to 16
# rows, those of igemm after them, and ends with mr, nr, log2 of kr and sr, planes, arch and sizes; a dwconv
# config has 32 bytes, with channels and taps at its end.
_PROBE = """
import ctypes, json, os, sys
path, places, flags, kinds, depthwise = sys.argv[1], *map(json.loads, sys.argv[2:])
ctypes.CDLL(path)
with open("/proc/self/maps") as file:
    base = next(int(line.split("-")[0], 16) for line in file if os.path.basename(path) in line)
def configure(name):
    place = places.get("xnn_init_%s_config" % name)
    make = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)
    return make(base + place[0])(0) if place else None
def held(address, size):
    return bytes((ctypes.c_ubyte * size).from_address(address))
def heights(data):
    return [row + 1 for row in range(16) if any(data[8 * row : 8 * row + 8])]
hardware = configure("hardware")
if flags:
    ctypes.c_uint64.from_address(hardware + 8).value = flags
gemm, rows = {}, {}
for kind in kinds:
    address = configure(kind)
    if address:
        data = held(address, places["gemm_config"][1])
        end = data[-16:]
        sizes = [end[0], end[1], 1 << end[2], 1 << end[3], end[4], 1 << end[14]]
        gemm[kind] = [*sizes, int.from_bytes(end[8:12], "little"), heights(data) or heights(data[128:])]
for kind, count in depthwise.items():
    address = configure(kind + "_dwconv")
    if address:
        words = [held(address + 32 * n + 24, 8) for n in range(count)]
        rows[kind] = [[int.from_bytes(w[4:], "little"), int.from_bytes(w[:4], "little")] for w in words]
scale = configure("f32_vmulcaddc")
print(json.dumps({"gemm": gemm, "dwconv": rows, "vmulcaddc": held(scale, 24)[16]}))
"""


def tiles_of(python: str, place: str, kinds: list[str]) -> dict[str, Any]:
    """The rows of all x86 instruction sets, and of this machine as it is under ""; empty if not to be had."""
    library = str(Path(place) / "libpywrap_litert_common.so")
    found = functions(library)
    if "xnn_init_hardware_config" not in found or "gemm_config" not in found:
        return {}
    return {name: _ask(python, library, found, flags, kinds) for name, flags in {"": 0, **FLAGS}.items()}


def _ask(python: str, library: str, found: Mapping[str, Any], flags: int, kinds: list[str]) -> Any:
    words = [json.dumps(one) for one in (found, flags, kinds, DEPTHWISE)]
    done = subprocess.run([python, "-c", _PROBE, library, *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def functions(path: str) -> dict[str, tuple[int, int]]:
    """Address and size of the functions that choose microkernels, and of a gemm config under its own name."""
    file = elf.ElfFile(path)
    table, strings = symbols._choose(file.sections())
    names, rows = file.read(strings.offset, strings.size), file.read(table.offset, table.size)
    found: dict[str, tuple[int, int]] = {}
    for at in range(0, len(rows) - _SYMBOL_BYTES + 1, _SYMBOL_BYTES):
        start = int.from_bytes(rows[at : at + 4], "little")
        name = names[start : names.find(b"\0", start)].decode("utf-8", "replace")
        value, size = (int.from_bytes(rows[at + n : at + n + 8], "little") for n in (8, 16))
        if name.startswith("xnn_init_") and name.endswith("_config"):
            found[name] = value, size
        elif name == "qu8_gemm_config":
            found["gemm_config"] = value, size
    file.close()
    return found


def with_tiles(document: dict[str, Any], tiles: Mapping[str, Any]) -> dict[str, Any]:
    """The table with the rows of x86 as the library has them; depthwise kinds without a function stay."""
    sets = dict(document["instruction_sets"])
    for name in FLAGS.keys() & tiles.keys():
        old = sets[name if name in sets else "x86-avx512vnni-gfni"]
        found = tiles[name]
        order = [*old["gemm"], *sorted(found["gemm"].keys() - old["gemm"].keys())]
        sets[name] = {
            "gemm": {kind: found["gemm"][kind] for kind in order if kind in found["gemm"]},
            "dwconv": {kind: found["dwconv"].get(kind, rows) for kind, rows in old["dwconv"].items()},
            "vmulcaddc": found["vmulcaddc"],
        }
    order = [*FLAGS, *(name for name in sets if name not in FLAGS)]
    return document | {"instruction_sets": {name: sets[name] for name in order if name in sets}}


def dump_tiles(document: Mapping[str, Any]) -> str:
    """The table in the layout we keep it in: one line per kind."""
    lines = [f'  "{key}": {json.dumps(document[key])},' for key in document if key != "instruction_sets"]
    sets = []
    for name, row in document["instruction_sets"].items():
        gemm = ",\n".join(f'        "{kind}": {json.dumps(sizes)}' for kind, sizes in row["gemm"].items())
        rest = f'      "dwconv": {json.dumps(row["dwconv"])},\n      "vmulcaddc": {row["vmulcaddc"]}\n'
        sets.append(f'    "{name}": {{\n      "gemm": {{\n{gemm}\n      }},\n{rest}    }}')
    return "{\n" + "\n".join(lines) + '\n  "instruction_sets": {\n' + ",\n".join(sets) + "\n  }\n}\n"
