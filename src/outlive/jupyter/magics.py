"""`%outlive ...`: the command line in a cell."""

from __future__ import annotations

import shlex
import sys
from importlib.metadata import entry_points
from typing import Any

from outlive.jupyter import complaints

_USAGE = "usage: %outlive COMMAND ...  as on the command line; %outlive --help lists the commands\n"


def register(shell: Any) -> None:
    """Make `%outlive` known."""
    shell.register_magic_function(lambda line: run_line(shell, line), "line", "outlive")


def unregister(shell: Any) -> None:
    """Forget it."""
    shell.magics_manager.magics["line"].pop("outlive", None)


def run_line(shell: Any, line: str) -> None:
    """Run a command; its exit code is in `_exit_code`, as after `!command`."""
    words = shlex.split(line)
    if words == ["traceback"]:
        sys.stdout.write(complaints.last_traceback() or "no error of outlive so far\n")
        return
    if not words:
        sys.stdout.write(_USAGE)
        return
    shell.user_ns["_exit_code"] = _command()(words)


def _command() -> Any:
    """The command as it is installed: a door does not know the other doors of the house."""
    (command,) = entry_points(group="console_scripts", name="outlive")
    return command.load()
