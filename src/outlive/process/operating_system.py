"""The operating system under workers: what the platform's package offers (see CONTRIBUTING.md)."""

from typing import TYPE_CHECKING

from outlive import platforms

if TYPE_CHECKING:
    from outlive.platforms.posix.for_process import *  # noqa: F403
else:
    globals().update(platforms.offered("for_process"))
