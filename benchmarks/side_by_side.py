"""Times contestants beside each other: each in fresh processes of its own, taking turns, in one run.

A program takes the number of repetitions and its arguments from the command line, imports first, then prints
the seconds of each repetition as a JSON list. Only ratios of one run mean anything on another machine.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
# What every contestant's program begins with: time_it(function) prints the seconds of each repetition.
PREAMBLE = """
import gc, json, sys, time
repetitions, arguments = int(sys.argv[1]), sys.argv[2:]

def time_it(function):
    seconds = []
    for _ in range(repetitions):
        gc.collect()
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
        del result
    print(json.dumps(seconds))
"""


# What a contestant's program that stays alive ends with: a turn for each line that comes.
_TURNS = """
for _line in sys.stdin:
    print("turn", json.dumps(turn()), flush=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Something to be timed: a name, and a program that ends in `time_it(...)`."""

    name: str
    program: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A ratio that we promise stays on one side of a bound."""

    text: str
    ratio: float
    bound: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """True if the ratio is on the right side."""
        return self.ratio >= self.bound if self.at_least else self.ratio <= self.bound

    def __str__(self) -> str:
        """One line: pass or falls short, what was measured, what was promised."""
        verdict = "pass       " if self.holds else "falls short"
        relation = "at least" if self.at_least else "at most"
        return f"{verdict}  {self.text}: {self.ratio:.2f} ({relation} {self.bound:g})"


def time_in_turns(
    contestants: Sequence[Contestant], arguments: Sequence[str], *, rounds: int, repetitions: int
) -> dict[str, float]:
    """The median seconds of each contestant; they take turns, so that a slow moment hits them all."""
    seconds: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for turn in range(rounds):
        for contestant in contestants if turn % 2 == 0 else reversed(contestants):
            seconds[contestant.name] += _run(contestant, arguments, repetitions)
    return {name: statistics.median(times) for name, times in seconds.items()}


def alternate(
    contestants: Sequence[Contestant], arguments: Sequence[str], *, turns: int
) -> dict[str, list[float]]:
    """The seconds that each contestant's `turn()` says, turn by turn; one works at a time.

    A noisy machine is slow for seconds on end: turns of a tenth of a second meet the same weather, turns of
    whole programs do not. They go round and never back: whoever came last before a change of direction would
    find its caches and cores still warm when it came first after it, and the others would not.
    """
    seconds: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    with ExitStack() as stack:
        alive = [
            (contestant, stack.enter_context(_start(contestant, arguments))) for contestant in contestants
        ]
        for _ in range(turns):
            for contestant, process in alive:
                seconds[contestant.name].append(_turn(contestant, process))
    return seconds


def median_ratio(seconds: Mapping[str, Sequence[float]], name: str, beside: Sequence[str]) -> float:
    """How many times as long a contestant takes as those beside it, turn by turn: the median.

    The turns of a round meet the same weather, so that a hundredth can be told where medians of all turns
    differ by several.
    """
    rounds = zip(seconds[name], *(seconds[other] for other in beside), strict=True)
    return float(statistics.median(ours / statistics.mean(theirs) for ours, *theirs in rounds))


def calm_medians(seconds: Mapping[str, Sequence[float]], by: str) -> tuple[dict[str, float], int]:
    """The median of each contestant over the calm turns, and how many they were.

    A machine whose cores are lent to others too is slower by half for seconds on end, and differences in
    microseconds then tell of the neighbours. A turn is calm if the contestant `by` was at most a quarter
    slower in it than in its fastest turns (the fifth of them at the front).
    """
    yardstick = seconds[by]
    fast = sorted(yardstick)[len(yardstick) // 5]
    calm = [number for number, value in enumerate(yardstick) if value <= 1.25 * fast]
    medians = {name: statistics.median(values[number] for number in calm) for name, values in seconds.items()}
    return medians, len(calm)


@contextmanager
def _start(contestant: Contestant, arguments: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PREAMBLE + contestant.program + _TURNS, "1", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _turn(contestant: Contestant, process: subprocess.Popen[str]) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    for line in process.stdout:
        if line.startswith("turn "):
            return float(json.loads(line[5:]))
    raise RuntimeError(f"{contestant.name} ended with {process.wait()}")


def _run(contestant: Contestant, arguments: Sequence[str], repetitions: int) -> list[float]:
    command = [sys.executable, "-c", PREAMBLE + contestant.program, str(repetitions), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{contestant.name} failed:\n{done.stderr[-2000:]}")
    times: list[float] = json.loads(done.stdout.splitlines()[-1])
    return times


def write_results(
    name: str, packages: Sequence[str], claims: Sequence[Claim], body: Mapping[str, object]
) -> Path:
    """Write what was measured, and on what, to results/<name>.json."""
    document = {
        "benchmark": name,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "packages": {package: _version(package) for package in packages},
        "claims": [
            {
                "text": claim.text,
                "ratio": round(claim.ratio, 3),
                "bound": claim.bound,
                "at_least": claim.at_least,
                "holds": claim.holds,
            }
            for claim in claims
        ],
        **body,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path


def finish(
    name: str, packages: Sequence[str], claims: Sequence[Claim], body: Mapping[str, object], *, quick: bool
) -> int:
    """Print the claims and write the results, unless it was quick; the exit code: 1 if one falls short."""
    print(*claims, sep="\n")
    if quick:
        return 0
    print(f"written to {write_results(name, packages, claims, body)}")
    return 0 if all(claim.holds for claim in claims) else 1


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from source"
