"""Which nursery makes which worker: one for each kind, started when first needed, gone with the program."""

from __future__ import annotations

import atexit
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from outlive.process.fresh import FreshHatchery
from outlive.process.hatchery import Hatchery, Kind, MakerGone, TooSlow, bury, disown, starting
from outlive.process.nursery import Nursery, abandon_all

# A nursery may be killed while it starts, and its successor as well.
_TRIES = 3
# How long to wait, when all are closed, for one that an interrupt has made us forget.
_BURIAL_S = 1.0
_hatcheries: dict[Kind, Hatchery] = {}
# Who starts a nursery of a kind has its turn, and the others wait for it: not for the lock of all kinds.
_turns: dict[Kind, threading.RLock] = {}
Made = TypeVar("Made")


def hatchery_for(kind: Kind, deadline: float | None = None) -> Hatchery:
    """The maker of workers of this kind; a nursery where the system can fork one."""
    known = _living(kind)
    if known is not None:
        return known
    turn = _turns.setdefault(kind, threading.RLock())
    if not turn.acquire(timeout=-1 if deadline is None else max(0.0, deadline - time.monotonic())):
        raise TooSlow("another thread is still starting the process that makes workers")
    try:
        return _living(kind) or _start(kind, deadline)
    finally:
        turn.release()


def _living(kind: Kind) -> Hatchery | None:
    known = _hatcheries.get(kind)
    if isinstance(known, Nursery) and not known.alive():
        _drop(kind, known)
        return None
    return None if isinstance(known, Nursery) and known.facts is None else known


def with_hatchery(kind: Kind, make: Callable[[Hatchery], Made], deadline: float | None = None) -> Made:
    """What is made of a maker of workers; of a new one if that one was ended a moment ago."""
    for _ in range(_TRIES - 1):
        try:
            return make(hatchery_for(kind, deadline))
        except MakerGone:
            continue
    return make(hatchery_for(kind, deadline))


def _start(kind: Kind, deadline: float | None) -> Hatchery:
    if not can_fork(kind):
        _hatcheries[kind] = made = FreshHatchery(kind)
        return made
    nursery = _hatcheries.get(kind)
    if not isinstance(nursery, Nursery):
        _hatcheries[kind] = nursery = Nursery(kind)
    try:
        threads = nursery.greet(deadline).get("threads")
    except TooSlow:
        raise  # it goes on loading, for the next caller
    except BaseException:
        _drop(kind, nursery)
        raise
    if threads == 1:
        return nursery
    _drop(kind, nursery)
    _hatcheries[kind] = fresh = FreshHatchery(kind)
    return fresh


def can_fork(kind: Kind) -> bool:
    """True if workers of this kind may be forked here."""
    # TensorFlow starts threads when it is imported, and a process with threads must not fork.
    forks = hasattr(os, "fork") and kind.runtime != "tensorflow"
    return forks and hasattr(socket, "SCM_RIGHTS") and hasattr(socket, "SOCK_SEQPACKET")


def _drop(kind: Kind, nursery: Nursery) -> None:
    """End a nursery; one that another thread has put in its place stays."""
    if _hatcheries.get(kind) is nursery:
        del _hatcheries[kind]
    nursery.close()


def close_hatcheries(which: Callable[[Kind, Hatchery], bool] = lambda kind, hatchery: True) -> None:
    """End nurseries, all of them or some; their workers go with them."""
    for kind, hatchery in list(_hatcheries.items()):
        if which(kind, hatchery):
            _hatcheries.pop(kind, None)
            hatchery.close()
    bury(_BURIAL_S if not _hatcheries else 0.0)


def close_special_hatcheries() -> None:
    """End the nurseries whose workers have an environment of their own: few need one twice."""
    close_hatcheries(lambda kind, _: bool(kind.environment))


def close_idle_hatcheries() -> None:
    """End the nurseries whose workers are all gone; one with a worker in use stays."""
    close_hatcheries(lambda _, hatchery: not hatchery.in_use)


def _forget_hatcheries() -> None:
    """In a forked child of the program: the parent's nurseries are not ours to talk to."""
    for hatchery in _hatcheries.values():
        hatchery.abandon()
    abandon_all()
    disown()
    _hatcheries.clear()
    _turns.clear()
    starting.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=starting.acquire, after_in_parent=starting.release, after_in_child=_forget_hatcheries
    )
atexit.register(close_hatcheries)
