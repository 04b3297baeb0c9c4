"""The tracer of a kernel: sees a fatal signal before the kernel does, and leaves what it saw in its folder.

    python -I -S -c PROGRAM PATH FOLDER      the kernel's process number comes by standard input

A process of its own, beside the kernel: a server that traced would take each stop for the kernel's death. It
ends with the kernel. If it ends earlier, nothing is lost but the native stack.
"""

from __future__ import annotations

import os
import sys
import time

from .. import running_op
from ..operating_system import own_process, traced_process
from . import notes_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main(words: list[str]) -> None:
    """Trace the kernel whose number comes, if one comes."""
    own_process.be_plain()
    own_process.name_process("outlive-tracer")
    os.umask(0o077)
    (folder,) = words
    number = sys.stdin.readline()
    if number.strip().isdigit():
        _trace(int(number), os.path.join(folder, notes_file.EVIDENCE_FILE))


def _trace(kernel: int, path: str) -> None:
    def keep(evidence: dict[str, Any]) -> None:
        notes_file.write_private(path, {**evidence, "seen_ns": time.time_ns()})

    refused = traced_process.trace(kernel, running_op.identify, keep)
    if refused:
        notes_file.write_private(path, {"untraced": refused})
