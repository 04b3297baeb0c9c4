"""Ways to take something away from a program before it starts."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

import pytest

linux_only = pytest.mark.skipif(platform.system() != "Linux", reason="takes away what only Linux has")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to take privileges and mounts away"
)
NOBODY = (
    # The tests' Python may lie where nobody may look: that one privilege is left.
    "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
    "--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search",
)  # fmt: skip

# Line of a program that installs a seccomp filter: a system call is refused with EPERM from then on.
_REFUSED = """
import ctypes, struct
code = [(0x20, 0, 0, 0), (0x15, 0, 1, {number}), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Filter(len(code), ctypes.addressof(program))), 0, 0) == 0
"""
_NUMBERS = {
    "x86_64": {"ptrace": 101, "memfd_create": 319, "pidfd_open": 434},
    "aarch64": {"ptrace": 117, "memfd_create": 279, "pidfd_open": 434},
}


def without_call(name: str) -> str:
    """The beginning of a program that, with all its children, may not make this system call."""
    numbers = _NUMBERS.get(platform.machine())
    if numbers is None:
        pytest.skip(f"the number of the system call {name} on {platform.machine()} is not known here")
    return _REFUSED.format(number=numbers[name])


def as_nobody() -> tuple[str, ...]:
    """The command that runs a program without privileges."""
    return _tried(NOBODY, "setpriv, of util-linux")


def in_own_mounts(commands: str) -> tuple[str, ...]:
    """The command that runs a program in a view of the file system that was changed by `commands` first."""
    return _tried(("unshare", "-m", "sh", "-c", f'{commands} && exec "$0" "$@"'), "unshare, of util-linux")


def _tried(command: tuple[str, ...], tool: str) -> tuple[str, ...]:
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {tool}")
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"{command[0]} may not do that here: {tried.stderr.strip()}")
    return command
