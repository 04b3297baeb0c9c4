"""The card of this notebook's last death."""

from __future__ import annotations

from typing import Any

from outlive.rendering import page_of
from outlive.rendering.media.notebook import card_bundle
from outlive.verbs.blackbox import take_unshown


def show_last(shell: Any) -> None:
    """Show why the kernel of this notebook died, once, if it did."""
    death = take_unshown()
    if death is not None:
        shell.display_pub.publish(data=card_bundle(page_of(death)), metadata={})


def show_with_first_cell(shell: Any) -> None:
    """The same as soon as there is a cell to show it in: a kernel that starts has none."""

    def show(_: Any) -> None:
        shell.events.unregister("pre_run_cell", show)
        show_last(shell)

    shell.events.register("pre_run_cell", show)
