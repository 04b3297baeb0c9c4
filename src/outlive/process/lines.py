"""Everything that ties a parent to one worker: two pipes and the shared block, three descriptors in all."""

from __future__ import annotations

import contextlib
import os

from outlive.process.block import SharedBlock
from outlive.process.channel import Channel
from outlive.process.descriptors import above_standard, close_all, file_with


class Lines:
    """The parent's ends, and for a short while the worker's.

    The worker's ends must be gone from this process before it forks again or waits for the worker: as long as
    somebody holds the other end of a pipe, its end of file is not seen.
    """

    def __init__(self, content: bytes | memoryview | None) -> None:
        """Open them all, or none; OSError where the system has no more to give."""
        opened: list[int] = []
        with above_standard(), contextlib.ExitStack() as undo:
            undo.callback(close_all, opened)
            self.block = SharedBlock()
            undo.callback(self.block.close)
            for _ in range(2):
                opened += os.pipe()
            for_worker, commands, replies, from_worker = opened
            if content is not None:
                opened.append(file_with("outlive-model", content))
            self._theirs = [for_worker, from_worker, *opened[4:]]
            self.channel = Channel(commands, replies)
            undo.pop_all()

    def given(self) -> list[int]:
        """What the worker gets, in the order it expects."""
        for_worker, from_worker, *content = self._theirs
        return [for_worker, from_worker, self.block.descriptor, *content]

    def handed_over(self) -> None:
        """The worker has its ends, or never will: close them here."""
        close_all(self._theirs)

    @property
    def closed(self) -> bool:
        """True once the parent has given up its ends."""
        return self.channel.commands < 0

    def close(self) -> None:
        """Give back the pipes; the shared block lives as long as views of it."""
        self.channel.close()
        self.block.close()
        close_all(self._theirs)
