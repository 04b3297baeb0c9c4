"""A kernel as its recorder sees it: what it notes itself, and what is noted about it."""

from __future__ import annotations

import fcntl
import mmap
import os

from . import layout
from .passing import Tee
from .witnessing import Memory, OomCount


class Scene:
    """Everything that is known of one kernel; who has it open is at work on it."""

    def __init__(self, kernel: int, folder: str, oom_counter: str, tee: Tee) -> None:
        """Open what the kernel has prepared."""
        self.kernel, self.folder = kernel, folder
        # Kept open: the lock on it says that somebody is at work here.
        self._file = open(os.path.join(self.folder, layout.NOTES_FILE), "r+b")  # noqa: SIM115
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.notes = mmap.mmap(self._file.fileno(), layout.SIZE, prot=mmap.PROT_READ)
        self.tee = tee
        self.memory = Memory(kernel)
        self.kills = OomCount(oom_counter)
        # Where the user wants stack dumps to go; -1 if nowhere.
        self.fault_copy = -1

    @property
    def busy(self) -> bool:
        """Whether a cell runs."""
        return bool(layout.get_word(self.notes, layout.BUSY))

    @property
    def began_ns(self) -> int:
        """When the cell began; when the watch did, if there was none yet."""
        return layout.get_word(self.notes, layout.BEGAN_NS)

    @property
    def began_s(self) -> float:
        """The same in seconds."""
        return self.began_ns / 1e9
