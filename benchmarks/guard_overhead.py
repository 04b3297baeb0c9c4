"""The cost of a guarded call, compared with a plain call and with process pools.

    python benchmarks/guard_overhead.py [--quick]

Each contestant runs in a process of its own, taking turns of a tenth of a second: the function called
plainly, guarded, in concurrent.futures.ProcessPoolExecutor, and in loky. All have one worker, which is warm.
What is told are medians over the turns in which the machine was calm. Beside many other programs the wait for
a core is all that is measured: there, give it a priority of its own (`chrt -f 10 python ...`).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, Contestant, alternate, calm_medians, finish

PACKAGES = ("outlive", "cloudpickle", "loky", "numpy")
LARGE = 1_250_000  # numbers of eight bytes: 10 MB

_CALLS = """
import itertools, operator
import numpy as np
kind, calls = arguments[0], int(arguments[1])
function = operator.add if kind == "small" else np.negative
values = (1, 2) if kind == "small" else (np.ones(int(arguments[2])),)

def turn():
    taken = []
    for _ in range(calls):
        start = time.perf_counter()
        result = call()
        taken.append(time.perf_counter() - start)
    return sorted(taken)[len(taken) // 2]

"""
_START = "\nfor _ in range(5):\n    call()\n"
PLAIN = Contestant(name="plain", program=_CALLS + "call = lambda: function(*values)" + _START)
OURS = Contestant(
    name="outlive",
    program=_CALLS
    + "import outlive\nguarded = outlive.guard(function)\ncall = lambda: guarded(*values)"
    + _START,
)
POOL = Contestant(
    name="ProcessPoolExecutor",
    program=_CALLS
    + "from concurrent.futures import ProcessPoolExecutor\npool = ProcessPoolExecutor(1)\n"
    + "call = lambda: pool.submit(function, *values).result()"
    + _START,
)
LOKY = Contestant(
    name="loky",
    program=_CALLS
    + "from loky import get_reusable_executor\npool = get_reusable_executor(max_workers=1)\n"
    + "call = lambda: pool.submit(function, *values).result()"
    + _START,
)
COPY = Contestant(
    name="one copy",
    # From and to memory that no cache holds, as for arguments and results.
    program=_CALLS
    + """
size = int(arguments[2])
many = itertools.cycle([(np.zeros(size), np.ones(size)) for _ in range(8)])
call = lambda: np.copyto(*next(many))
"""
    + _START,
)
CONTESTS = {
    "small": ([PLAIN, OURS, POOL, LOKY], 1000),
    "10 MB in and out": ([PLAIN, OURS, POOL, LOKY, COPY], 12),
}


def measure(quick: bool) -> dict[str, dict[str, float]]:
    """The medians in microseconds."""
    times: dict[str, dict[str, float]] = {}
    for name, (contestants, calls) in CONTESTS.items():
        kind = "small" if name == "small" else "large"
        found = alternate(contestants, [kind, str(calls), str(LARGE)], turns=5 if quick else 25)
        medians, calm = calm_medians(found, by="plain")
        times[name] = {key: seconds * 1e6 for key, seconds in medians.items()}
        print(f"{name}: {calm} of {len(found['plain'])} turns were calm")
    return times


def claims(times: dict[str, dict[str, float]]) -> list[Claim]:
    """What we promise, of this one run."""
    small, large = times["small"], times["10 MB in and out"]
    return [
        Claim(text="us for a small guarded call", ratio=small["outlive"], bound=60),
        Claim(
            text="copies of 10 MB that a guarded call with 10 MB in and out takes longer by",
            ratio=(large["outlive"] - large["plain"]) / large["one copy"],
            bound=2,
        ),
        Claim(
            text="small guarded calls, as many as ProcessPoolExecutor manages",
            ratio=small["ProcessPoolExecutor"] / small["outlive"],
            bound=2,
            at_least=True,
        ),
        Claim(
            text="small guarded calls, as many as loky manages",
            ratio=small["loky"] / small["outlive"],
            bound=2,
            at_least=True,
        ),
        Claim(
            text="guarded calls with 10 MB in and out, as many as ProcessPoolExecutor manages",
            ratio=large["ProcessPoolExecutor"] / large["outlive"],
            bound=3,
            at_least=True,
        ),
    ]


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, no results written")
    quick = parser.parse_args().quick
    times = measure(quick)
    for what, row in times.items():
        print(f"{what:18}" + "".join(f"{key} {value:,.1f} us   " for key, value in row.items()))
    return finish("guard_overhead", PACKAGES, claims(times), {"medians_us": times}, quick=quick)


if __name__ == "__main__":
    sys.exit(main())
