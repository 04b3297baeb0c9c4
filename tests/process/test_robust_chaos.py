"""Kill -9 at any moment: every call ends in a result or a typed error, and no process is left over."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.process import factories
from tests.deaths import scenes
from tests.deaths.scenes import open_healthy, result
from tests.repetition import repeats, rounds

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the nursery needs a system that can fork")
SEED = 20240229
VICTIMS = (("worker",), ("nursery",), ("worker", "nursery"), ("nursery", "worker"))
ROUNDS = rounds(40, soak=1000)


class Killer:
    """Kills whom it is told to, a little later, from a thread of its own."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def strike(self, pids: list[int], delay_s: float) -> None:
        def run() -> None:
            time.sleep(delay_s)
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def join(self) -> None:
        while self.threads:
            self.threads.pop().join()


@pytest.fixture
def killer() -> Iterator[Killer]:
    made = Killer()
    yield made
    made.join()


def nursery_pid() -> int:
    # Other tests of this run may have started one for TensorFlow, or for guarded functions.
    [factory] = [
        factory
        for kind, factory in factories._factories.items()
        if kind.runtime == "litert" and not kind.environment
    ]
    assert isinstance(factory, factories.Nursery)
    return factory.pid


def use(interpreter: Any, expected: Any, seconds: float) -> str:
    """Work with an interpreter until something happens to it, or the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert np.array_equal(result(interpreter), expected)
        interpreter.get_tensor_details()
    interpreter.allocate_tensors()
    interpreter.close()
    return "worked"


def attempt(expected: Any, seconds: float) -> str:
    """Open, use and close an interpreter; how that went."""
    try:
        return use(open_healthy(), expected, seconds)
    except outlive.ModelDied as error:
        assert error.finding.code in ("D508", "D510"), error
        return error.finding.code
    except outlive.WorkerUnavailable as error:
        assert error.finding.code == "D515", error
        return error.finding.code


@repeats
def test_kill_at_random_moments(killer: Killer) -> None:
    chance = random.Random(SEED)
    expected = result(open_healthy())
    outcomes: Counter[str] = Counter()
    for _ in range(ROUNDS):
        interpreter = open_healthy()
        # A new nursery takes a quarter of a second, so its turn comes less often.
        victims = chance.choices(VICTIMS, (14, 1, 1, 1))[0]
        pids = {"worker": interpreter.pid, "nursery": nursery_pid()}
        killer.strike([pids[name] for name in victims], chance.uniform(0, 0.02))
        if chance.random() < 0.5:  # killed while in use
            outcome = outcome_of(interpreter, expected, 0.03)
        else:  # killed while others open
            outcome = attempt(expected, 0.01)
        killer.join()
        outcomes[outcome] += 1
        assert np.array_equal(result(fresh_one()), expected)
    # How often a kill comes too late is the scheduler's business; that none ever came in time is not.
    assert outcomes["D508"] + outcomes["D510"] > 0
    del interpreter
    assert scenes.wait_for_death(scenes.children() - {nursery_pid()}) == set()


def outcome_of(interpreter: Any, expected: Any, seconds: float) -> str:
    try:
        return use(interpreter, expected, seconds)
    except outlive.ModelDied as error:
        assert error.finding.code in ("D508", "D510"), error
        return error.finding.code


def fresh_one() -> Any:
    """The next interpreter works: at once, or the time after if its own worker was just being killed."""
    try:
        return open_healthy()
    except (outlive.WorkerUnavailable, outlive.ModelDied):
        return open_healthy()


def test_the_moment_in_which_a_nursery_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end of the socket is closed already, and the system does not say yet that it is gone."""
    expected = result(open_healthy())
    dying = nursery_pid()
    os.kill(dying, signal.SIGKILL)
    assert scenes.wait_for_death({dying}) == set()
    with monkeypatch.context() as patch:
        patch.setattr(factories.Nursery, "_says_it_lives", lambda _: True)
        assert np.array_equal(result(open_healthy()), expected)
    assert nursery_pid() != dying


def test_the_nursery_dies_with_the_order_in_its_hands() -> None:
    expected = result(open_healthy())
    dying = nursery_pid()
    os.kill(dying, signal.SIGSTOP)
    threading.Timer(0.2, os.kill, (dying, signal.SIGKILL)).start()
    assert np.array_equal(result(open_healthy()), expected)
    assert nursery_pid() != dying


def test_threads_and_a_killer() -> None:
    """A few seconds of what `make soak` does for half an hour: see tests/faults/chaos.py."""
    command = [sys.executable, "-m", "tests.faults.chaos", "--seed", str(SEED), "--seconds", "5"]
    environment = {**os.environ, "PYTHONPATH": scenes.PATH}
    done = subprocess.run(
        command,
        cwd=scenes.REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["problems"] == [], "\n".join(seen["problems"]) + done.stderr
    assert seen["outcomes"]["invoke worked"] > 0
    assert sum(seen["strikes"].values()) > 0


def test_a_nursery_that_stands_still_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlive.platforms.posix.process.nursery_client._FORK_TIMEOUT_S", 0.5)
    monkeypatch.setattr("outlive.platforms.posix.process.nursery_client._ECHO_TIMEOUT_S", 0.5)
    monkeypatch.setattr("outlive.process.worker._ENDING_TIMEOUT_S", 0.5)
    interpreter = open_healthy(seconds=60)
    worker, old = interpreter.pid, nursery_pid()
    os.kill(old, signal.SIGSTOP)
    assert result(open_healthy()).size  # from a new one
    assert scenes.wait_for_death({worker, old}) == set()
    with pytest.raises(outlive.ModelDied):
        result(interpreter)
    assert result(open_healthy()).size
    # The same when it is a call that finds out.
    interpreter = open_healthy(seconds=60)
    scenes.set_deadline(interpreter, 0.3)
    worker, old = interpreter.pid, nursery_pid()
    os.kill(old, signal.SIGSTOP)
    os.kill(worker, signal.SIGSTOP)
    with pytest.raises(outlive.LimitReached):
        scenes.run_often(interpreter, 3)
    assert scenes.wait_for_death({worker, old}) == set()
    assert result(open_healthy()).size


# --- the parent's own end ---------------------------------------------------------------------------

FAMILY = """
interpreter = open_healthy()
result(interpreter)
stuck = outlive.Interpreter(model_content=models.endless())
stuck.allocate_tensors()
scenes.feed(stuck, 1)
threading.Thread(target=stuck.invoke, daemon=True).start()
{more}
time.sleep(0.1)
say(family=sorted(scenes.children()), own=os.getpid(), keep=keep)
{end}
"""
ENDS = {
    "killed": "time.sleep(60)",
    "exit": "sys.exit(3)",
    "falls-through": "pass",
    "exception": "raise ValueError('unhandled')",
    "os._exit": "os._exit(3)",
    "segfault": "import ctypes; ctypes.string_at(0)",
}


# A forked child without exec holds copies of every descriptor, and lives on; one that Python does not know of
# keeps even those that Python's own would close.
KEPT = {
    "alone": "keep = 0",
    "with-forked-child": "keep = os.fork()",
    "with-child-forked-in-c": "import ctypes; keep = ctypes.PyDLL(None).fork()",
}


WAYS = [
    *((end, "alone") for end in ENDS),
    *((end, kept) for end in ("killed", "exit") for kept in [*KEPT][1:]),
]


@pytest.mark.parametrize(("end", "kept"), WAYS)
def test_the_parents_end_is_the_end_of_all(end: str, kept: str) -> None:
    more = KEPT[kept] + ("" if kept == "alone" else "\nif not keep: [time.sleep(100) for _ in range(9)]")
    process = scenes.start(FAMILY.format(more=more, end=ENDS[end]))
    assert process.stdout is not None
    facts = json.loads(process.stdout.readline())
    family = {*facts["family"]} - {facts["keep"]}
    try:
        assert len(family) == 3  # the nursery and two workers
        if end == "killed":
            process.kill()
        process.wait(300)
        assert scenes.wait_for_death(family) == set()
        assert bool(facts["keep"]) == (kept != "alone")
        assert not facts["keep"] or not scenes.is_dead(facts["keep"])
    finally:
        if facts["keep"]:
            os.kill(facts["keep"], signal.SIGKILL)
        process.kill()
        process.communicate()


OPENED = {
    "interpreter": "outlive.Interpreter(HEALTHY)",
    "compiled model": "outlive.CompiledModel.from_file(HEALTHY)",
}


@pytest.mark.parametrize("what", OPENED)
def test_a_thread_that_ends_with_a_lock_in_its_hands(what: str) -> None:
    """Python ends daemon threads wherever they are when a program ends: nobody may wait for their locks."""
    process = scenes.start(f"""
    import atexit
    from outlive.process import factories
    opened = {OPENED[what]}
    locks = [factory._io for factory in factories._factories.values()]
    atexit._run_exitfuncs()  # as at a program's end, after which its threads go
    [scenes.hold_for_ever(lock) for lock in locks]
    sys.exit(3)
    """)
    try:
        assert process.wait(300) == 3
    finally:
        process.kill()
        process.communicate()


def test_a_worker_started_afresh_ends_with_its_parent() -> None:
    process = scenes.start("""
    from outlive.process import factories
    factories.can_fork = lambda kind: False
    stuck = outlive.Interpreter(model_content=models.endless())
    stuck.allocate_tensors()
    scenes.feed(stuck, 1)
    threading.Thread(target=stuck.invoke, daemon=True).start()
    time.sleep(0.1)
    say(family=sorted(scenes.children()))
    time.sleep(60)
    """)
    assert process.stdout is not None
    family = {*json.loads(process.stdout.readline())["family"]}
    assert len(family) == 1
    process.kill()
    process.communicate()
    assert scenes.wait_for_death(family) == set()


def test_the_nursery_notices_without_a_process_descriptor(tmp_path: Path) -> None:
    """Where the kernel has no pidfd, the end of the control socket or a look once a second has to do."""
    process = scenes.start(
        """
    interpreter = open_healthy()
    keep = os.fork()
    if not keep:
        [time.sleep(100) for _ in range(9)]
    say(family=sorted(scenes.children() - {keep}), keep=keep, has=hasattr(os, "pidfd_open"))
    time.sleep(60)
    """,
        env=scenes.without(tmp_path, "import os\nif hasattr(os, 'pidfd_open'): del os.pidfd_open"),
    )
    assert process.stdout is not None
    facts = json.loads(process.stdout.readline())
    try:
        assert not facts["has"]
        process.kill()
        process.wait()
        assert scenes.wait_for_death({*facts["family"]}) == set()
    finally:
        os.kill(facts["keep"], signal.SIGKILL)
        process.communicate()
