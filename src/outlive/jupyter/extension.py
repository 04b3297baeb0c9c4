"""`%load_ext outlive`: what it puts into a kernel, and takes out again."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.metadata import entry_points
from typing import Any

from outlive.jupyter import cells, error_cards, progress, protection
from outlive.rendering import page_of
from outlive.rendering.media.notebook import card_bundle, page_of_any
from outlive.verbs.blackbox import is_in_cell, record_kernel, take_unshown

# What IPython knows the class of all results by.
_RESULT = ("outlive.results", "Result")
_USAGE = "usage: %outlive COMMAND ...  as on the command line; %outlive --help lists the commands\n"
_PROTECTED = "outlive: models of this kernel run in workers from now on; outlive.unprotect() takes it back\n"
_recorders: dict[int, Any] = {}


def load(shell: Any) -> None:
    """Show the last death of this notebook if there was one; protection, cards, magics and the recorder.

    `OUTLIVE_PROTECT=0` leaves the interpreters of this kernel as they are.
    """
    if is_in_cell():
        show_last_death(shell)
    else:
        _show_with_first_cell(shell)
    if os.environ.get("OUTLIVE_PROTECT") != "0":
        protection.protect()
        sys.stdout.write(_PROTECTED if is_in_cell() else "")
    register_texts(shell)
    shell.register_magic_function(lambda line: run_line(shell, line), "line", "outlive")
    for part in (error_cards, cells, progress):
        part.register(shell)
    recorder = None if id(shell) in _recorders else record_kernel(shell)
    if recorder is not None:
        _recorders[id(shell)] = recorder


def unload(shell: Any) -> None:
    """Take out what `load` put in."""
    shell.display_formatter.formatters["text/plain"].pop(".".join(_RESULT), None)
    protection.unprotect()
    shell.magics_manager.magics["line"].pop("outlive", None)
    for part in (error_cards, cells, progress):
        part.unregister(shell)
    recorder = _recorders.pop(id(shell), None)
    if recorder is not None:
        recorder.close()


def register_texts(shell: Any) -> None:
    """Show results as whole texts where there are no cards; the cards are their own (`results.py`)."""
    shell.display_formatter.formatters["text/plain"].for_type_by_name(*_RESULT, _print_plain)


def _print_plain(thing: Any, printer: Any, cycle: bool) -> None:
    # Inside of a list or a dictionary a whole report would be in the way.
    alone = not printer.stack or len(printer.stack) <= 1
    text = card_bundle(page_of_any(thing))["text/plain"] if alone and not cycle else repr(thing)
    printer.text(text)


def show_last_death(shell: Any) -> None:
    """Show why the kernel of this notebook died, once, if it did."""
    death = take_unshown()
    if death is not None:
        shell.display_pub.publish(data=card_bundle(page_of(death)), metadata={})


def _show_with_first_cell(shell: Any) -> None:
    """Show the last death with the first cell: a kernel that starts has no place to show it."""

    def show(_: Any) -> None:
        shell.events.unregister("pre_run_cell", show)
        show_last_death(shell)

    shell.events.register("pre_run_cell", show)


def run_line(shell: Any, line: str) -> None:
    """`%outlive ...`: run a command; its exit code is in `_exit_code`, as after `!command`."""
    words = shlex.split(line)
    if words == ["traceback"]:
        sys.stdout.write(error_cards.last_traceback() or "no error of outlive so far\n")
    elif not words:
        sys.stdout.write(_USAGE)
    else:
        # The command as it is installed: entry points do not import each other.
        (command,) = entry_points(group="console_scripts", name="outlive")
        shell.user_ns["_exit_code"] = command.load()(words)
