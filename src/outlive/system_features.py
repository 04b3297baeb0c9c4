"""What files and memory can do here: what the platform's package offers (see CONTRIBUTING.md)."""

from typing import TYPE_CHECKING

from outlive import platforms

if TYPE_CHECKING:
    from outlive.platforms.posix.features import *  # noqa: F403
else:
    globals().update(platforms.offered("features"))
