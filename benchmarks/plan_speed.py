"""How long a plan takes: `python benchmarks/plan_speed.py [--quick]`.

A chain of convolutions grows in operators; each planner plans it, beside the time it takes to read the file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from isolation_overhead import classifier
from side_by_side import Claim, Contestant, finish, time_in_turns

PACKAGES = ("outlive", "numpy")
ACCELERATORS = ("builtin", "cpu", "tflm")
READ = Contestant(
    name="read",
    program="""
import outlive
outlive.read(arguments[0])
time_it(lambda: outlive.read(arguments[0]))
""",
)


def planner(accelerator: str) -> Contestant:
    """A plan of a model that has been read."""
    return Contestant(
        name=accelerator,
        program=f"""
import outlive
model = outlive.read(arguments[0])
outlive.plan(model, {accelerator!r})
time_it(lambda: outlive.plan(model, {accelerator!r}))
""",
    )


def measure(folder: Path, quick: bool) -> dict[int, dict[str, float]]:
    """Milliseconds by number of operators and contestant."""
    rows = {}
    for ops in (100, 1000) if quick else (100, 1000, 10_000):
        path = folder / f"{ops}.tflite"
        path.write_bytes(classifier(ops, 8, 4))
        contestants = [READ, *map(planner, ACCELERATORS)]
        found = time_in_turns(
            contestants, [str(path)], rounds=1 if quick else 3, repetitions=3 if ops > 1000 else 7
        )
        rows[ops] = {name: seconds * 1e3 for name, seconds in found.items()}
    return rows


def claims(rows: dict[int, dict[str, float]]) -> list[Claim]:
    """What we promise."""
    few, most = min(rows), max(rows)
    found = []
    for name in ACCELERATORS:
        growth = rows[most][name] / rows[1000][name] / (most / 1000)
        found += [
            Claim(text=f"ms for a plan of {few} operators, {name}", ratio=rows[few][name], bound=100),
            Claim(text=f"time per operator of {most} over that of 1000, {name}", ratio=growth, bound=2),
        ]
    return found


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, no results written")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as name:
        rows = measure(Path(name), quick)
    for ops, row in rows.items():
        print(f"{ops:6} operators  " + "".join(f"{key} {value:,.1f} ms   " for key, value in row.items()))
    return finish("plan_speed", PACKAGES, claims(rows), {"medians_ms": rows}, quick=quick)


if __name__ == "__main__":
    sys.exit(main())
