"""Fails every operating-system call of every verb in turn, as SQLite's tests do (sqlite.org/testing.html, 3).

    python -m tests.faults.campaign [--verbs run,guard] [--every N] [--minutes M] [--state FILE]

A driver process serves one verb (`driver.py`); whatever hangs or takes it along costs that driver only. With
a state file a run that was cut off goes on where it was. Exit code 1 if a fault ended in anything but a
result or a documented error, left something behind, or hindered the next call.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
CUSTOMIZE = Path(__file__).parent / "customize"
ANSWER_S = 300.0
SLOW_EVERY = 10


@dataclass(frozen=True, order=True)
class Trial:
    """One fault: the n-th call from a site of a verb fails with an error number, once or from then on."""

    verb: str
    site: str
    number: int
    nth: int
    stays: bool

    @property
    def order(self) -> dict[str, Any]:
        """What a driver is told."""
        return {name: value for name, value in asdict(self).items() if name != "verb"}

    def __str__(self) -> str:
        """One line."""
        if self.site.startswith("limit "):
            return f"{self.verb}: {self.site}"
        calls = f"calls from {self.nth} on" if self.stays else f"call {self.nth}"
        return f"{self.verb}: {os.strerror(self.number)} at {calls} of {self.site}"


class DriverDied(Exception):
    """A driver ended or hung amid a trial; the words are what it said."""


class Driver:
    """A driver process for one verb, in folders of its own."""

    def __init__(self, verb: str, plants: Path | None = None) -> None:
        """Start it; `plants` is a folder with a module `plant` that breaks the verb, to test the harness."""
        self._folder = tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True)
        home = Path(self._folder.name)
        for name in ("board", "work", "tmp", "cache"):
            (home / name).mkdir()
        self._said = (home / "said").open("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-m", "tests.faults.driver", verb, str(home / "work")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, cwd=REPOSITORY,
            env={**os.environ, **_environment(home, plants)}, text=True,
        )  # fmt: skip

    def __enter__(self) -> Driver:
        """For as long as it lives."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    def make(self, trial: Trial) -> dict[str, Any]:
        """Make one trial; what came of it."""
        try:
            answer: dict[str, Any] = self._ask(trial.order)
        except DriverDied as error:
            answer = {"fired": 1, "outcome": "none", "seconds": 0, "problems": [str(error)]}
        return {"trial": str(trial), **answer}

    def sites(self) -> list[tuple[int, str]]:
        """The sites that the verb passes, each with how often."""
        return [(count, site) for count, site in self._ask({})]

    def _ask(self, order: dict[str, Any]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise DriverDied(self._words()) from error
        ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_S)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            raise DriverDied(self._words())
        return json.loads(line)

    def _words(self) -> str:
        self.process.kill()
        self.process.wait()
        self._said.seek(0)
        return f"the driver ended with {self.process.returncode}: {self._said.read()[-6000:]}"

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._said):
            if stream is not None:
                with contextlib.suppress(OSError):  # what it did not take any more
                    stream.close()
        self._folder.cleanup()


def _environment(home: Path, plants: Path | None) -> dict[str, str]:
    folders = (CUSTOMIZE, REPOSITORY, REPOSITORY / "src", *([plants] if plants else []))
    return {
        "OUTLIVE_TEST_FAULTS": str(home / "board"),
        "OUTLIVE_CACHE": str(home / "cache"),
        "TMPDIR": str(home / "tmp"),
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
    }


def trials_of(verb: str, sites: Sequence[tuple[int, str]]) -> Iterator[Trial]:
    """Every site fails at its first call, once and for good, and at its last; with each error it knows.

    Before that, the system's own limits, which native code meets too.
    """
    from tests.faults.driver import LIMITS
    from tests.faults.shim import ERRORS

    for name, amounts in LIMITS.items():
        for more in amounts:
            yield Trial(verb, f"limit {name} {more}", 0, 1, False)
    for count, site in sites:
        for number in ERRORS[site.split()[1]]:
            yield Trial(verb, site, number, 1, False)
            yield Trial(verb, site, number, 1, True)
            if count > 1:
                yield Trial(verb, site, number, count, False)


class Campaign:
    """Trials, one after the other; what was found."""

    def __init__(self, state: Path | None = None) -> None:
        self.state, self.done = state, Counter[str]()
        self.known: set[str] = set()
        self.failures: list[dict[str, Any]] = []
        if state is not None and state.exists():
            for line in state.read_text().splitlines():
                self._count(json.loads(line))

    def run(self, trials: Sequence[Trial], until: float = float("inf")) -> bool:
        """Make those that have not been made; False if time limit reached before."""
        missing = [trial for trial in trials if str(trial) not in self.known]
        for verb, group in groupby(missing, key=lambda trial: trial.verb):
            if not self._run_verb(verb, list(group), until):
                return False
        return True

    def _run_verb(self, verb: str, trials: list[Trial], until: float) -> bool:
        while trials and time.monotonic() < until:
            with Driver(verb) as driver:
                while trials and time.monotonic() < until and self._make(driver, trials.pop(0)):
                    pass
        return not trials

    def _make(self, driver: Driver, trial: Trial) -> bool:
        """One trial; False if the driver is not fit for another."""
        row = driver.make(trial)
        self._count(row)
        if self.state is not None:
            with self.state.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return not row["problems"]

    def _count(self, row: dict[str, Any]) -> None:
        self.known.add(row["trial"])
        self.done[row["outcome"] if row["fired"] else "not reached"] += 1
        if row["problems"]:
            self.failures.append(row)


def sample(trials: Sequence[Trial], count: int, seed: int) -> list[Trial]:
    """Some of them, the same ones each time, those of one verb together."""
    return sorted(random.Random(seed).sample(sorted(trials), min(count, len(trials))))


def main() -> int:
    """Make all trials, or those of some verbs."""
    args = _arguments()
    until = time.monotonic() + args.minutes * 60
    campaign = Campaign(args.state)
    whole = True
    for verb in args.verbs:
        sites = _known_sites(verb, args.state)
        whole = campaign.run(list(trials_of(verb, sites))[:: _step(verb, args.every)], until) and whole
        print(
            f"{verb}: {len(sites)} sites; so far {dict(campaign.done)}, {len(campaign.failures)} failures",
            flush=True,
        )
    for row in campaign.failures:
        print(f"\n{row['trial']}: {row['outcome']} after {row['seconds']} s", *row["problems"], sep="\n  ")
    print("all trials made" if whole else "time is up; the next run goes on")
    return 1 if campaign.failures else 0


def _known_sites(verb: str, state: Path | None) -> list[tuple[int, str]]:
    """The sites, as they were when the campaign began: timing may lead to others in a later run."""
    path = state.with_name(f"{state.name}.{verb}.sites") if state else None
    if path is not None and path.exists():
        return [(count, site) for count, site in json.loads(path.read_text())]
    with Driver(verb) as driver:
        sites = driver.sites()
    if path is not None:
        path.write_text(json.dumps(sites))
    return sites


def _step(verb: str, every: int) -> int:
    from tests.faults.verbs import VERBS

    return every * (SLOW_EVERY if VERBS[verb].slow else 1)


def _arguments() -> argparse.Namespace:
    from tests.faults.verbs import VERBS

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--verbs", type=lambda words: words.split(","), default=list(VERBS), help="some of them"
    )
    parser.add_argument("--every", type=int, default=1, help="one trial in so many (default: all)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--state", type=Path, help="where trials that were made are kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
