"""Which nursery makes which worker: one for each kind, started when first needed, gone with the program."""

import atexit
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from outlive.process.operating_system import (
    Nursery,
    abandon_all,
    at_fork,
    bury,
    can_fork,
    disown,
    starting,
)
from outlive.process.spawn_factory import SpawnFactory
from outlive.process.worker_factory import FactoryGone, StartTooSlow, WorkerFactory, WorkerKind

# A nursery may be killed while it starts, and its successor as well.
_TRIES = 3
# How long to wait, when all are closed, for one that an interrupt has made us forget.
_BURIAL_S = 1.0
_factories: dict[WorkerKind, WorkerFactory] = {}
# Who starts a nursery of a kind has its turn, and the others wait for it: not for the lock of all kinds.
_turns: dict[WorkerKind, threading.RLock] = {}
Made = TypeVar("Made")


def factory_for(kind: WorkerKind, deadline: float | None = None) -> WorkerFactory:
    """The maker of workers of this kind; a nursery where the system can fork one."""
    known = _living(kind)
    if known is not None:
        return known
    turn = _turns.setdefault(kind, threading.RLock())
    if not turn.acquire(timeout=-1 if deadline is None else max(0.0, deadline - time.monotonic())):
        raise StartTooSlow("another thread is still starting the process that makes workers")
    try:
        return _living(kind) or _start(kind, deadline)
    finally:
        turn.release()


def _living(kind: WorkerKind) -> WorkerFactory | None:
    known = _factories.get(kind)
    if isinstance(known, Nursery) and not known.alive():
        _drop(kind, known)
        return None
    return None if isinstance(known, Nursery) and known.facts is None else known


def with_factory(
    kind: WorkerKind, make: Callable[[WorkerFactory], Made], deadline: float | None = None
) -> Made:
    """What is made of a maker of workers; of a new one if that one was ended a moment ago."""
    for _ in range(_TRIES - 1):
        try:
            return make(factory_for(kind, deadline))
        except FactoryGone:
            continue
    return make(factory_for(kind, deadline))


def _start(kind: WorkerKind, deadline: float | None) -> WorkerFactory:
    if not can_fork(kind):
        return _factories.setdefault(kind, SpawnFactory(kind))
    nursery = _factories.get(kind)
    if not isinstance(nursery, Nursery):
        _factories[kind] = nursery = Nursery(kind)
    try:
        threads = nursery.wait_ready(deadline).get("threads")
    except StartTooSlow:
        raise  # it goes on loading, for the next caller
    except BaseException:
        _drop(kind, nursery)
        raise
    if threads == 1:
        return nursery
    _drop(kind, nursery)
    return _factories.setdefault(kind, SpawnFactory(kind))


def _drop(kind: WorkerKind, nursery: Nursery) -> None:
    """End a nursery; one that another thread has put in its place stays."""
    if _factories.get(kind) is nursery:
        del _factories[kind]
    nursery.close()


def close_factories(which: Callable[[WorkerKind, WorkerFactory], bool] = lambda kind, factory: True) -> None:
    """End nurseries, all of them or some; their workers go with them."""
    for kind, factory in list(_factories.items()):
        if which(kind, factory):
            _factories.pop(kind, None)
            factory.close()
    bury(_BURIAL_S if not _factories else 0.0)


def close_special_factories() -> None:
    """End the nurseries whose workers have an environment of their own: few need one twice."""
    close_factories(lambda kind, _: bool(kind.environment))


def close_idle_factories() -> None:
    """End the nurseries whose workers are all gone; one with a worker in use stays."""
    close_factories(lambda _, factory: not factory.in_use)


def _forget_factories() -> None:
    """In a forked child of the program: the parent's nurseries are not ours to talk to."""
    for factory in _factories.values():
        factory.abandon()
    abandon_all()
    disown()
    _factories.clear()
    _turns.clear()
    starting.release()


at_fork(before=starting.acquire, after_in_parent=starting.release, after_in_child=_forget_factories)
atexit.register(close_factories)
