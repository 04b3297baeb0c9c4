"""The card of this notebook's last death."""

from __future__ import annotations

from typing import Any

from outlive.jupyter.cards import BAD, Card
from outlive.verbs.blackbox import take_unshown


def show_last(shell: Any) -> None:
    """Show why the kernel of this notebook died, once, if it did."""
    death = take_unshown()
    if death is not None:
        shell.display_pub.publish(data=death_card(death).bundle(), metadata={})


def show_with_first_cell(shell: Any) -> None:
    """The same as soon as there is a cell to show it in: a kernel that starts has none."""

    def show(_: Any) -> None:
        shell.events.unregister("pre_run_cell", show)
        show_last(shell)

    shell.events.register("pre_run_cell", show)


def death_card(death: Any) -> Card:
    """Which cell, what happened, the evidence, what to do."""
    from outlive.rendering.blackbox_text import death_text

    record = death.record
    return Card(
        label="the kernel died",
        parts=lambda: death_text(record, death.finding),
        tone=BAD,
        timeline=record.timeline,
        details=(("all Python stacks", record.to_flight().fault_trace),),
    )
