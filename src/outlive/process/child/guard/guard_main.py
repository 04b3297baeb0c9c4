"""The guarded worker: a fresh Python that calls the functions it is sent, one call at a time.

    caller ──STATE, FUNCTION, CALL──> worker ──VALUE, RAISED, or STREAM and for each NEXT a YIELDED──> caller
    worker ──ASK──> caller ──> the next item of an iterator that was given as an argument, and stayed there

It has imported nothing that the function does not import, numpy and cloudpickle apart, and serves until its
caller is gone, or has not called for some minutes.
"""

from __future__ import annotations

import atexit
import faulthandler
import importlib
import json
import logging
import mmap
import os
import signal
import socket
import sys
import types
from typing import Any

from ..operating_system import own_process
from ..operating_system import sandbox as system_sandbox
from . import calibration_watch, standard_streams, variables
from . import message_frames as wire
from .lane import BLOCK_BYTES
from .link import Link
from .server import Server


def main(
    talk: int,
    rights: int,
    out: int,
    errors: int,
    faults: int,
    block: int,
    stdin: int = -1,
    parent: int = 0,
    awake: bool = False,
    modules: Any = (),
    idle_s: float = 0.0,
    sandbox: Any = None,
    **_: Any,
) -> None:
    """Serve the caller until it closes its end."""
    if parent:
        own_process.follow(parent, talk)
    for descriptor in (talk, rights, faults, block):
        os.set_inheritable(descriptor, False)  # or what the function starts would hide our end
    standard_streams.connect(out, errors, stdin)
    words = os.fdopen(faults, "w")
    faulthandler.enable(words, all_threads=True)
    variables.write_stack_on_signal(words)
    own_process.name_process("outlive-guard")
    applied = own_process.limit({})
    # Before the first import that starts threads: landlock holds for this one and those that it starts.
    applied["sandbox"] = system_sandbox.enter(sandbox, for_model=False)
    slots = mmap.mmap(block, BLOCK_BYTES)
    os.close(block)
    link = Link(socket.socket(fileno=talk), socket.socket(fileno=rights), slots, awake)
    server = Server(link, idle_s)
    signal.signal(signal.SIGINT, server.interrupted)
    logging.getLogger().addHandler(standard_streams.LogSender(link.log))
    _forget_ourselves(server)
    for name in ("cloudpickle", *modules):
        _import_quietly(name)
    calibration_watch.install()
    link.send(wire.READY, server.memory.sizes(), rest=json.dumps(applied).encode("ascii"))
    try:
        server.serve()
        atexit._run_exitfuncs()  # it has time for it: the caller said stop, or has not called for long
    except wire.Closed:
        pass
    standard_streams.flush()
    os._exit(0)  # no farewell of the libraries: it may hang, unseen


def _forget_ourselves(server: Server) -> None:
    """The function finds a main program that has nothing of ours, and what was sent of the caller's."""
    main = types.ModuleType("__main__")
    main.__getattr__ = server.find_in_main  # type: ignore[method-assign,assignment,unused-ignore]
    sys.modules["__main__"] = main
    sys.argv[:] = [""]


def _import_quietly(name: str) -> None:
    try:
        importlib.import_module(name)
    except Exception:
        pass  # the function that needs it will say so
