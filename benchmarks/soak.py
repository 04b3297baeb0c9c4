"""Nothing grows: 100,000 invokes, 1,000 interpreters opened and closed, 300 deaths with restart.

Each part runs a tenth of its length first, so that what is made once is made; then the parent's private
memory, its descriptors, its processes and its shared blocks are counted, before and after the whole length.

    python benchmarks/soak.py           two to five minutes; results go to benchmarks/results/soak.json
    python benchmarks/soak.py --quick   a hundredth of it, no results written
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from side_by_side import Claim, write_results

import outlive
from outlive import demo_models

PACKAGES = ("outlive", "ai-edge-litert", "numpy")
MB = 1_000_000
MODEL = str(demo_models.path("healthy"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What the system holds for this process."""

    private_bytes: int
    descriptors: int
    processes: int
    blocks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of the soak: how often, how long, and what grew by how much."""

    part: str
    times: int
    seconds: float
    grown_bytes: int
    grown_descriptors: int
    grown_processes: int
    grown_blocks: int


def holdings() -> Holdings:
    """Count what there is now."""
    gc.collect()
    memory = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    private = sum(int(line.split()[1]) * 1024 for line in memory if line.startswith("Private_"))
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    return Holdings(
        private_bytes=private,
        descriptors=len(os.listdir("/proc/self/fd")),
        processes=len(_family(os.getpid())),
        blocks=maps.count("memfd:outlive-block"),
    )


def _family(pid: int) -> list[int]:
    """The processes below this one, and below those."""
    found: list[int] = []
    for task in os.listdir(f"/proc/{pid}/task"):
        children = Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split()
        for child in map(int, children):
            found += [child, *_family(child)]
    return found


def open_model(on_death: str = "raise") -> outlive.Interpreter:
    """An interpreter that has run once."""
    interpreter = outlive.Interpreter(MODEL, on_death=on_death)
    interpreter.allocate_tensors()
    for row in interpreter.get_input_details():
        interpreter.set_tensor(row["index"], np.full(row["shape"], 0.5, row["dtype"]))
    interpreter.invoke()
    return interpreter


def invoke(times: int) -> None:
    """Run one model again and again, inputs and outputs included."""
    with open_model() as interpreter:
        given, got = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
        value = np.full(given["shape"], 0.5, given["dtype"])
        for _ in range(times):
            interpreter.set_tensor(given["index"], value)
            interpreter.invoke()
            interpreter.get_tensor(got["index"])


def open_and_close(times: int) -> None:
    """A new interpreter each time."""
    for _ in range(times):
        open_model().close()


def die_and_restart(times: int) -> None:
    """Kill the worker of one interpreter; its next call says so, the one after that works."""
    interpreter = open_model(on_death="restart")
    expected = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    for _ in range(times):
        os.kill(interpreter.pid, signal.SIGKILL)
        _wait_for_the_news(interpreter)
        interpreter.invoke()
        again = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        if not np.array_equal(again, expected):
            raise RuntimeError("another result after a restart")
    interpreter.close()


def _wait_for_the_news(interpreter: outlive.Interpreter) -> None:
    while True:
        try:
            interpreter.invoke()
        except outlive.ModelDied:
            return


def segfault(times: int) -> None:
    """A model that takes its process along, each time in a new worker."""
    for _ in range(times):
        interpreter = outlive.Interpreter(str(demo_models.path("deadly")))
        try:
            interpreter.allocate_tensors()
            for row in interpreter.get_input_details():
                interpreter.set_tensor(row["index"], np.full(row["shape"], 0.5, row["dtype"]))
            interpreter.invoke()
        except outlive.ModelDied:
            continue
        raise RuntimeError("the deadly model has lived")


def measure(part: str, run: Callable[[int], None], times: int) -> Row:
    """One part, after a tenth of it."""
    run(max(times // 10, 5))
    before, start = holdings(), time.perf_counter()
    run(times)
    seconds, after = time.perf_counter() - start, holdings()
    return Row(
        part=part,
        times=times,
        seconds=round(seconds, 2),
        grown_bytes=after.private_bytes - before.private_bytes,
        grown_descriptors=after.descriptors - before.descriptors,
        grown_processes=after.processes - before.processes,
        grown_blocks=after.blocks - before.blocks,
    )


def claims(rows: list[Row]) -> list[Claim]:
    """What we promise of each part."""
    found = []
    for row in rows:
        name = f"{row.times:,} times {row.part}"
        counted = max(row.grown_descriptors, row.grown_processes, row.grown_blocks)
        found += [
            Claim(text=f"{name}: growth of the parent's memory in MB", ratio=row.grown_bytes / MB, bound=1),
            Claim(text=f"{name}: descriptors, processes and shared blocks more", ratio=counted, bound=0),
        ]
    return found


def print_table(rows: list[Row]) -> None:
    """One line per part."""
    names = f"{'memory':>12} {'descriptors':>12} {'processes':>10} {'blocks':>7}"
    print(f"{'part':18} {'times':>8} {'each':>12} {names}")
    for row in rows:
        print(
            f"{row.part:18} {row.times:8,} {row.seconds / row.times * 1e6:9,.0f} us "
            f"{row.grown_bytes / MB:+9.2f} MB {row.grown_descriptors:+12} {row.grown_processes:+10} "
            f"{row.grown_blocks:+7}"
        )


def main() -> int:
    """Measure, print, write the results; 1 if something grows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a hundredth of it, no results written")
    quick = parser.parse_args().quick
    share = 100 if quick else 1
    rows = [
        measure("invoke", invoke, 100_000 // share),
        measure("open and close", open_and_close, 1_000 // share),
        measure("die and restart", die_and_restart, 300 // share),
        measure("segfault", segfault, 300 // share),
    ]
    print_table(rows)
    checked = claims(rows)
    print(*checked, sep="\n")
    if quick:
        return 0
    print(f"written to {write_results('soak', PACKAGES, checked, {'rows': [asdict(row) for row in rows]})}")
    return 0 if all(claim.holds for claim in checked) else 1


if __name__ == "__main__":
    sys.exit(main())
