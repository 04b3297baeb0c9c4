"""Threads that no interrupt reaches, and that are not waited for if they cannot begin."""

import _thread
import weakref
from collections.abc import Callable


def run_uninterrupted(action: Callable[[], None]) -> None:
    """Do something in a thread that an interrupt must not cut in two; it is raised afterwards.

    Python runs signal handlers in the main thread only. In the middle of Popen they would leave a process
    whose number is lost. `threading` would wait for ever for a thread that has no memory to begin with
    (python/cpython, Lib/threading.py, Thread.start): here the thread's own argument says when it has ended,
    for it is given up however that comes about.
    """
    failures: list[BaseException] = [MemoryError()]

    def run(argument: set[int]) -> None:
        del argument  # the thread has it still; a traceback would keep this one
        try:
            action()
            failures.clear()
        except BaseException as error:
            failures[0] = error

    done, held = _thread.allocate_lock(), set[int]()
    done.acquire()
    # Its `__exit__` is `release`, and takes a callback's argument: no Python code, which would need memory.
    watch = weakref.ref(held, done.__exit__)  # type: ignore[arg-type]
    try:
        _thread.start_new_thread(run, (held,))
    except RuntimeError:  # no more threads, or Python is ending
        return action()
    del held
    interrupts: list[BaseException] = []
    while watch() is not None:
        try:
            done.acquire()
        except BaseException as error:
            interrupts.append(error)
    for met in (*interrupts, *failures):
        raise met


def require_thread() -> None:
    """MemoryError where a thread has no memory to begin with: `threading` would wait for it for ever."""
    run_uninterrupted(lambda: None)
