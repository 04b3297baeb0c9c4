"""By how much a limit that was set is exceeded: python -m tests.faults.limits_overshoot [--times 20].

    words     RLIMIT_DATA counts, as it usually does: what is asked for beyond the limit is refused
    cgroup    it counts nothing, as in some sandboxes: watchdog, and the worker's own cgroup
    watchdog  neither it nor a cgroup: the watchdog alone

A model, and a function that fills memory as fast as Python can, run into the limit so many times; told is the
most private memory that was seen above the baseline, beyond the limit, in bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import outlive
from outlive.platforms.posix.process import nursery_client as nursery
from outlive.process import factories
from tests.deaths import scenes

LIMIT_BYTES = 300_000_000
_UNLIMITED = (-1, -1)


def fill(unlimited: bool) -> int:
    """Take memory in pieces of 8 MB, and touch all of it."""
    import resource

    if unlimited:
        resource.setrlimit(resource.RLIMIT_DATA, _UNLIMITED)
    held = []
    try:
        while len(held) < 1000:
            held.append(bytearray(b"x") * 8_000_000)
    except MemoryError:
        return len(held) * 8_000_000
    return 0


def overshoot_of_function(unlimited: bool) -> int:
    """How far a guarded function came beyond its limit."""
    try:
        return int(outlive.guard(fill, memory=LIMIT_BYTES, fresh=True)(unlimited)) - LIMIT_BYTES
    except outlive.LimitReached as error:
        return _beyond(error.flight)


def overshoot_of_model(unlimited: bool) -> int:
    """How far a model came beyond its limit."""
    import resource

    interpreter = outlive.Interpreter(scenes.TOO_BIG, memory=LIMIT_BYTES)
    if unlimited:
        resource.prlimit(interpreter.pid, resource.RLIMIT_DATA, _UNLIMITED)
    try:
        scenes.run_whole(interpreter, 1000)
    except outlive.LimitReached as error:
        return _beyond(error.flight)
    raise AssertionError("it did not reach its limit")


def _beyond(flight: Any) -> int:
    return int(flight.peak_bytes or 0) - LIMIT_BYTES


def measure(times: int) -> dict[str, Any]:
    """The worst of so many, for each way a limit is kept."""
    found: dict[str, Any] = {"limit_bytes": LIMIT_BYTES, "times": times}
    for way in ("words", "cgroup", "watchdog"):
        if way == "watchdog":
            factories.close_factories()
            nursery.find_cgroup_home = lambda: None
        unlimited = way != "words"
        found[way] = {
            "model_bytes": max(overshoot_of_model(unlimited) for _ in range(times)),
            "function_bytes": max(overshoot_of_function(unlimited) for _ in range(times)),
        }
    return found


def main() -> int:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--times", type=int, default=20, help="of each (default: 20)")
    print(json.dumps(measure(parser.parse_args().times)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
