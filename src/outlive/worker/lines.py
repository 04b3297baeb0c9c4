"""Everything that ties a parent to one worker: pipes, the shared block, files for its last words."""

from __future__ import annotations

import os

from outlive.worker.block import SharedBlock
from outlive.worker.channel import Channel
from outlive.worker.descriptors import above_standard, anonymous_file, append_only, close_all, file_with


class Lines:
    """The parent's ends, and for a short while the worker's.

    The worker's ends must be gone from this process before it forks again or waits for the worker: whoever
    holds the other end of a pipe keeps its end of file from being seen.
    """

    def __init__(self, content: bytes | memoryview | None) -> None:
        """Open them all, or none; OSError where the system has no more to give."""
        self._open: list[int] = []
        self._theirs: list[int] = []
        self.errors = self.faults = -1
        with above_standard():
            try:
                self._make(content)
            except BaseException:
                self._close_plain()
                raise

    def _make(self, content: bytes | memoryview | None) -> None:
        self.errors = self._ours(append_only(anonymous_file("outlive-errors")))
        self.faults = self._ours(append_only(anonymous_file("outlive-faults")))
        for_worker, commands = self._pipe()
        replies, from_worker = self._pipe()
        self._theirs += [for_worker, from_worker]
        self._open[:] = [one for one in self._open if one not in self._theirs]
        if content is not None:
            self._theirs.append(file_with("outlive-model", content))
        self.block = SharedBlock()
        self.channel = Channel(commands, replies)
        self._open[:] = [self.errors, self.faults]

    def _ours(self, descriptor: int) -> int:
        self._open.append(descriptor)
        return descriptor

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open += ends
        return ends

    def given(self) -> list[int]:
        """What the worker gets, in the order it expects."""
        for_worker, from_worker, *content = self._theirs
        return [for_worker, from_worker, self.block.descriptor, self.errors, self.faults, *content]

    def handed_over(self) -> None:
        """The worker has its ends, or never will: close them here."""
        close_all(self._theirs)

    @property
    def closed(self) -> bool:
        """True once the parent has given up its ends."""
        return self.channel.commands < 0

    def close(self) -> None:
        """Give back pipes and files; the shared block lives as long as views of it."""
        self.channel.close()
        self.block.close()
        self._close_plain()

    def _close_plain(self) -> None:
        close_all(self._theirs)
        close_all(self._open)
        self.errors = self.faults = -1
