"""How both sides wait for each other in hot calls: `python benchmarks/call_waiting.py`.

- On one core, the worker is not asleep at each call: how often it sleeps, over the number of calls.
- Beside a busy program on the same core, calls are slept through soon: how many come before that.
- On two cores, a worker leaves the core of its caller: in how many bursts of calls.

The system's scheduler decides these, so they are measured here and no test depends on them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, write_results

ROUNDS = 5
MOST_CALLS = 20_000

_SHARED = """
import json, os, subprocess, sys, time
from pathlib import Path
import numpy as np
import outlive
from outlive import demo_models

def slept(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int([line.split()[1] for line in lines if line.startswith("voluntary")][0])

def open_healthy():
    interpreter = outlive.Interpreter(str(demo_models.path("healthy")))
    interpreter.allocate_tensors()
    for row in interpreter.get_input_details():
        interpreter.set_tensor(row["index"], np.ones(row["shape"], row["dtype"]))
    return interpreter
"""
_SLEEPS = """
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
with open_healthy() as interpreter:
    interpreter.invoke()
    counts = []
    for _ in range(60):
        before = slept(interpreter.pid)
        for _ in range(10):
            interpreter.invoke()
        counts.append(slept(interpreter.pid) - before)
print(json.dumps(min(counts) / 10))  # others may disturb some of them
"""
_NEIGHBOUR = """
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
calls, most = 0, int(sys.argv[1])
try:
    with open_healthy() as interpreter:
        waiting = interpreter._session.worker._waiting
        while calls < most and not waiting.calls_to_sleep:
            interpreter.invoke()
            calls += 1
finally:
    busy.kill()
    busy.wait()
print(json.dumps(calls / most))
"""
_BURSTS = """
with open_healthy() as interpreter:
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})  # the program; its worker may run anywhere
    apart = 0
    for _ in range(20):
        time.sleep(0.05)  # the worker falls asleep, and is woken on the core of the one that wakes it
        for _ in range(40):
            interpreter.invoke()
        where = int(Path(f"/proc/{interpreter.pid}/stat").read_text().rpartition(")")[2].split()[36])
        apart += where != core
print(json.dumps(apart / 20))
"""


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    seen: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, program, argument in (
            ("sleeps_per_call", _SLEEPS, ""),
            ("calls_before_neighbour_is_noticed", _NEIGHBOUR, str(MOST_CALLS)),
            *([("bursts_apart", _BURSTS, "")] if len(os.sched_getaffinity(0)) > 1 else []),
        ):
            seen.setdefault(name, []).append(_measure(program, argument))
    medians = {name: statistics.median(values) for name, values in seen.items()}
    claims = _claims(medians)
    print(*claims, sep="\n")
    path = write_results("call_waiting", ("ai-edge-litert", "outlive"), claims, {"medians": medians})
    print(f"written to {path}")
    return 0 if all(claim.holds for claim in claims) else 1


def _claims(medians: dict[str, float]) -> list[Claim]:
    noticed = medians["calls_before_neighbour_is_noticed"]
    claims = [
        Claim(text="one core: sleeps of the worker per call", ratio=medians["sleeps_per_call"], bound=0.5),
        Claim(
            text=f"one core: calls until a neighbour is noticed, of {MOST_CALLS}", ratio=noticed, bound=0.9
        ),
    ]
    if "bursts_apart" in medians:
        text = "two cores: bursts in which the worker leaves its caller's core"
        claims.append(Claim(text=text, ratio=medians["bursts_apart"], bound=0.5, at_least=True))
    return claims


def _measure(program: str, argument: str) -> float:
    command = [sys.executable, "-c", _SHARED + program, argument]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    sys.exit(main())
