"""The operating system under the meters: what the platform's package offers (see CONTRIBUTING.md)."""

from typing import TYPE_CHECKING

from outlive import platforms

if TYPE_CHECKING:
    from outlive.platforms.posix.for_meter import *  # noqa: F403
else:
    globals().update(platforms.offered("for_meter"))
