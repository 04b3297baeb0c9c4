"""The card of this notebook's last death."""

from __future__ import annotations

from typing import Any

from outlive.jupyter.cards import BAD, Card
from outlive.kernel_deaths import shelf
from outlive.kernel_deaths.box import describe
from outlive.kernel_deaths.record import Record


def show_last(shell: Any) -> None:
    """Show why the kernel of this notebook died, once, if it did."""
    shelf.tidy()
    record = shelf.take_unshown(describe())
    if record is not None:
        shell.display_pub.publish(data=death_card(record).bundle(), metadata={})


def show_with_first_cell(shell: Any) -> None:
    """The same as soon as there is a cell to show it in: a kernel that starts has none."""

    def show(_: Any) -> None:
        shell.events.unregister("pre_run_cell", show)
        show_last(shell)

    shell.events.register("pre_run_cell", show)


def death_card(record: Record) -> Card:
    """Which cell, what happened, the evidence, what to do."""
    from outlive.rendering.blackbox_text import death_text
    from outlive.rendering.blackbox_verdict import judge_death
    from outlive.verbs.judging import JUDGE

    finding = judge_death(record, JUDGE)
    return Card(
        label="the kernel died",
        parts=lambda: death_text(record, finding),
        tone=BAD,
        timeline=record.timeline,
        details=(("all Python stacks", record.to_flight().fault_trace),),
    )
