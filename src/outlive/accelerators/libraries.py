"""Whether a delegate library can be loaded here, found by reading its header and never by loading it."""

from __future__ import annotations

import ctypes.util
import os
import platform
from pathlib import Path

# The function that LiteRT looks for: tflite/delegates/external/external_delegate.cc.
ENTRY = b"tflite_plugin_create_delegate"
# e_machine in the header of an ELF file: System V ABI, chapter 4, and the supplements of the processors.
_MACHINES = {
    3: ("i386", "i686", "x86"),
    8: ("mips",),
    21: ("ppc64", "ppc64le"),
    22: ("s390x",),
    40: ("armv6l", "armv7l", "armv8l", "arm"),
    62: ("x86_64", "amd64"),
    183: ("aarch64", "arm64"),
    243: ("riscv64",),
}
_HEADER_BYTES = 20
_MOST_BYTES = 1 << 30


def library_problem(library: str, machine: str = "") -> tuple[str, str]:
    """What is wrong with a library, and what to do about it; both empty if nothing is."""
    path = Path(library)
    if os.sep not in library and not path.exists():
        return _unfound(library)
    if not path.exists():
        return f"there is no file {library}", "give the path of the library"
    if path.is_dir():
        return f"{library} is a folder", "give the path of the library in it"
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= _MOST_BYTES else b""
    except OSError as error:
        return f"{library} cannot be read: {error.strerror}", "make the file readable"
    return _content_problem(library, data, machine or platform.machine())


def _unfound(library: str) -> tuple[str, str]:
    """A bare name is the system loader's to find."""
    stem = library.removeprefix("lib").partition(".so")[0]
    if ctypes.util.find_library(stem) is not None:
        return "", ""
    return f"the system finds no library named {library}", "give the path of the library, not only its name"


def _content_problem(library: str, data: bytes, machine: str) -> tuple[str, str]:
    if platform.system() != "Linux" or not data:
        return "", ""
    if not data.startswith(b"\x7fELF") or len(data) < _HEADER_BYTES:
        return f"{library} is no shared library of this system", "take the build for Linux (.so)"
    order = "little" if data[5] == 1 else "big"
    number = int.from_bytes(data[18:20], "little" if order == "little" else "big")
    made_for = _MACHINES.get(number, (f"machine {number}",))
    if machine.lower() not in made_for:
        words = f"{library} is made for {made_for[0]}, and this machine is {machine}"
        return words, f"take the build for {machine}"
    if ENTRY not in data:
        words = f"{library} has no function {ENTRY.decode()}, by which LiteRT makes a delegate"
        return words, "take a build with the external delegate interface of TensorFlow Lite"
    return "", ""
