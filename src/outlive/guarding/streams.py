"""A guarded generator: its items come from the worker one at a time, each when it is asked for."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Any, Protocol


class Conversation(Protocol):
    """What a stream needs of the call that it belongs to."""

    def next_item(self) -> tuple[bool, Any]:
        """True and the next item, or False and what the generator returned."""

    def close_stream(self) -> None:
        """End the generator in the worker: its `finally` runs."""

    def abandon(self) -> None:
        """End the worker, if it is still at it."""


class GuardedStream:
    """An iterator over what a guarded generator yields; `close()`, or `with`, ends it early.

    The worker works only while an item is asked for, and belongs to the stream until it ends.
    """

    def __init__(self, conversation: Conversation) -> None:
        """Take the call over."""
        self._conversation: Conversation | None = conversation

    def __iter__(self) -> GuardedStream:
        """Itself."""
        return self

    def __next__(self) -> Any:
        """The next item; what the generator raises is raised here."""
        conversation = self._conversation
        if conversation is None:
            raise StopIteration
        self._conversation = None  # whatever goes wrong ends the stream
        there, value = conversation.next_item()
        if not there:
            raise StopIteration(value)
        self._conversation = conversation
        return value

    def close(self) -> None:
        """End the generator, as `close()` of an ordinary one does."""
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            conversation.close_stream()

    def __enter__(self) -> GuardedStream:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def __del__(self) -> None:
        """A stream that nobody looks at any more is closed."""
        conversation = getattr(self, "_conversation", None)
        if conversation is not None:
            with contextlib.suppress(BaseException):
                self.close()
            with contextlib.suppress(BaseException):
                conversation.abandon()
