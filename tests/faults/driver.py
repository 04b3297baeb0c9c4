"""A process in which one verb is called with one fault after the other: `campaign.py` starts and watches it.

    python -m tests.faults.driver VERB FOLDER       a line of JSON in: a trial, or {} for the verb's sites
                                                    a line of JSON out: what was wrong, or the sites

After each fault the call has ended in a result or in an error that is documented, all that the process holds
is as before, and the next call, from another thread, works.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import json
import os
import re
import resource
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from tests.deaths import scenes
from tests.faults.verbs import VERBS, Verb, is_documented

HANG_S = 90.0
# What is left of a resource: descriptors, address space, bytes of a file. Root has no limit of processes.
LIMITS = {
    "NOFILE": range(12),
    "AS": (0, 1_000_000, 10_000_000, 100_000_000),
    "FSIZE": (0, 1_000, 100_000),
}
_SETTLE_S, _PLANTED_SETTLE_S = 8.0, 0.2


class Trials:
    """One verb, called again and again."""

    def __init__(self, verb: Verb, folder: Path, settle_s: float) -> None:
        self.verb, self.folder, self.settle_s = verb, folder, settle_s
        self.board = sys.modules["outlive_faults_shim"].board
        self.stray: list[str] = []
        threading.excepthook = lambda given: self._note(
            "thread", given.exc_type, given.exc_value, given.exc_traceback
        )
        sys.unraisablehook = lambda given: self._note(
            f"unraisable in {given.object!r}", given.exc_type, given.exc_value, given.exc_traceback
        )
        for _ in range(2):
            self.expected = self._call()

    def _note(self, where: str, kind: Any, error: Any, trace: Any) -> None:
        self.stray.append(f"{where}: " + "".join(traceback.format_exception(kind, error, trace)))

    def _call(self) -> Any:
        if self.verb.cold:
            end_all_workers()
        return self.verb.call(self.folder)

    def sites(self) -> list[tuple[int, str]]:
        """Where the verb calls the system, in the order in which that happens first, with how often."""
        self.board.record()
        self._call()
        self.board.rest()
        lines = Path(self.board.recording).read_text().splitlines()
        return [(count, site) for site, count in Counter(lines).items()]

    def try_twice(self, order: dict[str, Any]) -> dict[str, Any]:
        """One trial. What it leaves behind counts if it does so again: a worker may just have started."""
        row = self.try_site(**order)
        only_left = row["problems"] and all(problem in row["left"] for problem in row["problems"])
        return self.try_site(**order) if only_left else row

    def try_site(self, site: str, number: int, nth: int, stays: bool) -> dict[str, Any]:
        """Call it with one fault; what was wrong."""
        before = self._settled()
        self.stray.clear()
        if self.verb.cold:
            end_all_workers()
        start = time.monotonic()
        if site.startswith("limit "):
            outcome, problems, fired = *self._under_limit(*site.split()[1:]), 1
        else:
            self.board.arm(site, number, nth, stays)
            outcome, problems = self._outcome()
            fired = self.board.rest()
        seconds = time.monotonic() - start
        gc.collect()
        problems += self._next_call()
        left = self._what_is_left(before)
        problems += left + self.stray
        row = {"fired": fired, "outcome": outcome, "seconds": round(seconds, 2)}
        return {**row, "problems": problems, "left": left}

    def _under_limit(self, name: str, more: str) -> tuple[str, list[str]]:
        """Call it with little left of a resource; what was started then has the limit too, and is ended."""
        kind = getattr(resource, f"RLIMIT_{name}")
        soft, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (_in_use(name) + int(more), hard))
        try:
            return self._outcome()
        finally:
            resource.setrlimit(kind, (soft, hard))
            end_all_workers()

    def _outcome(self) -> tuple[str, list[str]]:
        try:
            value = self.verb.call(self.folder)
        except BaseException as error:
            fine = is_documented(self.verb, error)
            return type(error).__name__, [] if fine else [traceback.format_exc()]
        if self.verb.exact and value != self.expected:
            return "result", [f"another result: {value!r:.200}, not {self.expected!r:.200}"]
        return "result", []

    def _next_call(self) -> list[str]:
        """The next call works, from another thread: nobody holds a lock."""
        got: list[Any] = []

        def run() -> None:
            try:
                got.append(self._call())
            except BaseException:
                got.append(traceback.format_exc())

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return [] if got == [self.expected] else [f"the next call: {got[0]!s:.3000}"]

    def _what_is_left(self, before: dict[str, Any]) -> list[str]:
        """What is more than before; fewer may be: a worker that waited for the next call was used up."""
        end = time.monotonic() + self.settle_s
        while (grown := _grown(before, self.holdings())) and time.monotonic() < end:
            time.sleep(0.05)
        return [f"{what}: more {more}" for what, more in grown.items()]

    def _settled(self) -> dict[str, Any]:
        """What is held once workers that start or end in the background have done so."""
        held, end = self.holdings(), time.monotonic() + self.settle_s
        while time.monotonic() < end:
            time.sleep(0.02)
            held, before = self.holdings(), held
            if held == before:
                break
        return held

    def holdings(self) -> dict[str, Any]:
        """All that the system holds for this process."""
        gc.collect()
        return {
            "descriptors": Counter(map(_kind_of, scenes.descriptors().values())),
            "processes": Counter(scenes.name_of(pid) for pid in scenes.children()),
            "blocks": Counter({"blocks": len(scenes.shared_blocks())}),
            "threads": Counter(thread.name.rstrip("0123456789-() ") for thread in threading.enumerate()),
            "shared memory": Counter(name for name in os.listdir("/dev/shm") if _is_ours(name)),
            "temporary files": Counter(sorted(os.listdir(tempfile.gettempdir()))),
            "files": Counter(str(path) for path in sorted(self.folder.rglob("*"))),
        }


def _in_use(name: str) -> int:
    if name == "NOFILE":
        return 1 + max(map(int, scenes.descriptors()))
    if name == "AS":
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0


def _is_ours(name: str) -> bool:
    """Of what all users share: what outlive names, and what libraries name after this process."""
    return "outlive" in name or f"_{os.getpid()}_" in name


def _grown(before: dict[str, Any], after: dict[str, Any]) -> dict[str, dict[str, int]]:
    return {what: dict(after[what] - before[what]) for what in before if after[what] - before[what]}


def _kind_of(target: str) -> str:
    """What a descriptor is of, without the number that makes it this one."""
    return re.sub(r"\d+", "N", target.replace(" (deleted)", ""))


def end_all_workers() -> None:
    """The next call starts all that it needs."""
    from outlive.guarding.pool import pool
    from outlive.process import factories

    pool.close()
    factories.close_factories()


def main() -> None:
    """Serve trials from standard input."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is not for who reads the answers
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("plant")  # by tests of the harness itself
    trials = Trials(VERBS[name], folder, _PLANTED_SETTLE_S if "plant" in sys.modules else _SETTLE_S)
    for line in sys.stdin:
        order = json.loads(line)
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        answer: Any = trials.try_twice(order) if order else trials.sites()
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # what is at its end is not on trial


if __name__ == "__main__":
    main()
