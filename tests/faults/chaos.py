"""Eight threads use outlive while a killer strikes their workers, nurseries and guard processes at random.

    python -m tests.faults.chaos --seed 1 --seconds 60    what calls ended in and what was wrong, as JSON

Every call ends in the right result or in an error with a finding, none takes longer than HANG_S, and when all
is over no process, descriptor or shared block is left. A deadline of two seconds may be answered in ten on a
busy machine; only what does not come back at all is a hang.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import json
import os
import random
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import outlive
from outlive.guarding.pool import pool
from outlive.process import factories
from tests.deaths import scenes

THREADS, DEADLINE_S, HANG_S, SETTLE_S = 8, 2.0, 60.0, 20.0
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP)
_MOST_PROBLEMS = 20


class Ledger:
    """What calls have ended in, what was wrong, and which are under way since when."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.strikes: Counter[str] = Counter()
        self.problems: list[str] = []
        self.longest_s = 0.0
        self._since: dict[int, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def call(self, name: str, function: Callable[[], Any]) -> Any:
        """Make a call; what it raises is counted, and raised on for the caller to start anew."""
        me, start = threading.get_ident(), time.monotonic()
        self._since[me] = (name, start)
        outcome = "worked"
        try:
            return function()
        except outlive.OutliveError as error:
            outcome = error.finding.code
            raise
        except Exception:
            outcome = "wrong"
            self.wrong(f"{name}: {traceback.format_exc()}")
            raise
        finally:
            del self._since[me]
            with self._lock:
                self.outcomes[f"{name} {outcome}"] += 1
                self.longest_s = max(self.longest_s, time.monotonic() - start)

    def wrong(self, words: str) -> None:
        """Note something that must not be."""
        with self._lock:
            if len(self.problems) < _MOST_PROBLEMS:
                self.problems.append(words)

    def hanging(self) -> list[str]:
        """Calls that have been under way for too long."""
        now = time.monotonic()
        return [name for name, since in list(self._since.values()) if now - since > HANG_S]


class User:
    """One thread's work: each turn is one way to use outlive, from its opening to its end."""

    def __init__(self, ledger: Ledger, seed: str, expected: Any) -> None:
        self.ledger, self.chance, self.expected = ledger, random.Random(seed), expected
        self.turns = (self.interpret, self.interpret, self.restart, self.guard, self.run)

    def work(self, end: float) -> None:
        """Take turns until the time is over; an error of outlive's own ends a turn, not the thread."""
        while time.monotonic() < end:
            with contextlib.suppress(Exception):
                self.chance.choice(self.turns)()
            gc.collect(0)

    def interpret(self) -> None:
        """Open, use, resize, use, close; or leave it to the garbage collector."""
        one = self._open("raise")
        for batch in (1, self.chance.choice((1, 2, 3))):
            self._resize(one, batch)
            for _ in range(self.chance.randrange(20)):
                self._invoke(one, batch)
        if self.chance.random() < 0.7:
            self.ledger.call("close", one.close)

    def restart(self) -> None:
        """An interpreter that goes on after its worker's death."""
        one = self._open("restart")
        for _ in range(self.chance.randrange(40)):
            with contextlib.suppress(outlive.OutliveError):
                self._invoke(one, 1)
        self.ledger.call("close", one.close)

    def guard(self) -> None:
        """A guarded function."""
        values = np.arange(self.chance.choice((3, 200_000)), dtype=np.float64)
        got = self.ledger.call("guard", lambda: outlive.guard(_double, seconds=DEADLINE_S)(values))
        self._compare("guard", got, values * 2)

    def run(self) -> None:
        """A whole run."""
        limits = outlive.Limits(seconds=DEADLINE_S)
        self.ledger.call("run", lambda: outlive.run(scenes.HEALTHY, "ones", limits=limits))

    def _open(self, on_death: str) -> Any:
        return self.ledger.call("open", lambda: scenes.open_healthy(seconds=DEADLINE_S, on_death=on_death))

    def _resize(self, one: Any, batch: int) -> None:
        def resize() -> None:
            [row] = one.get_input_details()
            one.resize_tensor_input(row["index"], [batch, *row["shape"][1:]])
            one.allocate_tensors()

        self.ledger.call("resize", resize)

    def _invoke(self, one: Any, batch: int) -> None:
        got = self.ledger.call("invoke", lambda: scenes.result(one))
        self._compare("invoke", got[0], self.expected[0])

    def _compare(self, name: str, got: Any, wanted: Any) -> None:
        if not np.array_equal(got, wanted):
            self.ledger.wrong(f"{name}: another result")


def _double(values: Any) -> Any:
    return values * 2


class Killer:
    """Strikes a process below this one every now and then; of those it stops, few are ever let go on."""

    def __init__(self, ledger: Ledger, seed: str) -> None:
        self.ledger, self.chance = ledger, random.Random(seed)
        self._later: list[tuple[float, int]] = []

    def work(self, end: float) -> None:
        """Strike until the time is over."""
        while time.monotonic() < end:
            time.sleep(self.chance.uniform(0.005, 0.25))
            family = sorted(scenes.children() | scenes.spares())
            for pid in self.chance.sample(family, min(len(family), self.chance.choice((1, 1, 1, 4)))):
                self._strike(pid)
            while self._later and self._later[0][0] < time.monotonic():
                _send(self._later.pop(0)[1], signal.SIGCONT)

    def _strike(self, pid: int) -> None:
        number = self.chance.choice(SIGNALS)
        self.ledger.strikes[f"{number.name} {scenes.name_of(pid)}"] += 1
        _send(pid, number)
        if number == signal.SIGSTOP and self.chance.random() < 0.3:
            self._later.append((time.monotonic() + self.chance.uniform(0, 3), pid))
            self._later.sort()


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def storm(seed: int, seconds: float) -> dict[str, Any]:
    """One chaos; what was seen."""
    expected = scenes.result(scenes.open_healthy())
    outlive.guard(_double)(1)
    end_all()
    before = _held()
    ledger, end = Ledger(), time.monotonic() + seconds
    threads = [
        threading.Thread(target=User(ledger, f"{seed} {number}", expected).work, args=(end,), daemon=True)
        for number in range(THREADS)
    ]
    threads.append(threading.Thread(target=Killer(ledger, f"{seed} killer").work, args=(end,), daemon=True))
    for thread in threads:
        thread.start()
    _watch(ledger, threads)
    _after(ledger, before)
    return {
        "seed": seed, "seconds": seconds, "calls": sum(ledger.outcomes.values()),
        "outcomes": dict(sorted(ledger.outcomes.items())), "strikes": dict(sorted(ledger.strikes.items())),
        "longest_s": round(ledger.longest_s, 1), "problems": ledger.problems,
    }  # fmt: skip


def _watch(ledger: Ledger, threads: list[threading.Thread]) -> None:
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.1)
        hanging = ledger.hanging()
        if hanging:
            ledger.wrong(f"hangs: {hanging}")
            faulthandler.dump_traceback()
            return


def _after(ledger: Ledger, before: dict[str, Any]) -> None:
    """What a program that goes on would find: calls work again, and nothing is left when all is ended."""
    end = time.monotonic() + HANG_S
    while True:
        try:
            scenes.result(scenes.open_healthy(seconds=DEADLINE_S))
            break
        except outlive.OutliveError:  # of a process that was struck last
            if time.monotonic() > end:
                ledger.wrong(f"no call works any more: {traceback.format_exc()}")
                break
        except Exception:
            ledger.wrong(f"the next call: {traceback.format_exc()}")
            break
    end_all()
    end = time.monotonic() + SETTLE_S
    while (after := _held()) != before and time.monotonic() < end:
        time.sleep(0.1)
    if after != before:
        ledger.wrong(f"left: {after}; before: {before}")


def _held() -> dict[str, Any]:
    gc.collect()
    return {
        "processes": sorted(scenes.name_of(pid) for pid in scenes.children() | scenes.spares()),
        "descriptors": len(scenes.descriptors()),
        "blocks": len(scenes.shared_blocks()),
    }


def end_all() -> None:
    """End every worker that nobody has open."""
    gc.collect()
    pool.close()
    factories.close_factories()


def main() -> int:
    """One chaos from the command line; 1 if something was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    args = parser.parse_args()
    seen = storm(args.seed, args.seconds)
    print(json.dumps(seen), flush=True)
    os._exit(1 if seen["problems"] else 0)  # threads that hang would keep it from ending


if __name__ == "__main__":
    sys.exit(main())
