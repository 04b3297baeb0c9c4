"""Enters the sandbox in a throwaway process, tries to get out of it, and says in JSON how that went."""

from __future__ import annotations

import json
import os
import socket
from typing import Any, Callable, Dict

from . import sandbox


def main(**_: Any) -> None:
    """The parts it came under, why not more, and what it could do all the same."""
    actions: Dict[str, Callable[[], Any]] = {
        "list files": lambda: os.listdir("/"),
        "open a socket": socket.socket,
        "fork": _fork,
    }
    applied = sandbox.enter({"read": []})
    escapes = [name for name, action in actions.items() if _works(action)]
    os.write(1, json.dumps(dict(applied, escapes=escapes)).encode())


def _fork() -> None:
    process = os.fork()
    if not process:
        os._exit(0)
    os.waitpid(process, 0)


def _works(action: Callable[[], Any]) -> bool:
    try:
        action()
    except OSError:
        return False
    return True
