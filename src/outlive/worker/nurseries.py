"""Which nursery makes which worker: one for each kind, started when first needed, gone with the program."""

from __future__ import annotations

import atexit
import os
import socket
import threading
from collections.abc import Callable
from typing import TypeVar

from outlive.worker.fresh import FreshHatchery
from outlive.worker.hatchery import Hatchery, Kind, MakerGone
from outlive.worker.nursery import Nursery

# Held while a worker is being started, and by a fork of the program: a forked child must not get a copy of a
# pipe's end that is the worker's, or the parent would never see the end of file that means its death.
starting = threading.RLock()
_hatcheries: dict[Kind, Hatchery] = {}
Made = TypeVar("Made")


def hatchery_for(kind: Kind) -> Hatchery:
    """The maker of workers of this kind; a nursery where the system can fork one."""
    with starting:
        known = _hatcheries.get(kind)
        if isinstance(known, Nursery) and not known.alive():
            known.close()
            known = None
        if known is None:
            known = _hatcheries[kind] = _start(kind)
        return known


def with_hatchery(kind: Kind, make: Callable[[Hatchery], Made]) -> Made:
    """What is made of a maker of workers; of a new one if that one was ended a moment ago."""
    try:
        return make(hatchery_for(kind))
    except MakerGone:
        return make(hatchery_for(kind))


def close_special_hatcheries() -> None:
    """End the nurseries whose workers have an environment of their own: few need one twice."""
    with starting:
        for kind in [kind for kind in _hatcheries if kind.environment]:
            _hatcheries.pop(kind).close()


def _start(kind: Kind) -> Hatchery:
    # TensorFlow starts threads when it is imported, and a process with threads must not fork.
    forks = hasattr(os, "fork") and kind.runtime != "tensorflow"
    if not (forks and hasattr(socket, "SCM_RIGHTS") and hasattr(socket, "SOCK_SEQPACKET")):
        return FreshHatchery(kind)
    nursery = Nursery(kind)
    if nursery.facts.get("threads") != 1:
        nursery.close()
        return FreshHatchery(kind)
    return nursery


def close_hatcheries() -> None:
    """End all nurseries; their workers go with them."""
    with starting:
        for hatchery in _hatcheries.values():
            hatchery.close()
        _hatcheries.clear()


def close_idle_hatcheries() -> None:
    """End the nurseries whose workers are all gone; one with a worker in use stays."""
    with starting:
        for kind in [kind for kind, hatchery in _hatcheries.items() if not hatchery.in_use]:
            _hatcheries.pop(kind).close()


def _forget_hatcheries() -> None:
    """In a forked child of the program: the parent's nurseries are not ours to talk to."""
    for hatchery in _hatcheries.values():
        hatchery.abandon()
    _hatcheries.clear()
    starting.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=starting.acquire, after_in_parent=starting.release, after_in_child=_forget_hatcheries
    )
atexit.register(close_hatcheries)
