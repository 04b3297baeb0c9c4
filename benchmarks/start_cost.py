"""The start-up time of the command `outlive`, compared with Python's own: `python benchmarks/start_cost.py`.

CPU time of whole processes, in turns; the least of each, which other programs disturb least.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, write_results

ROUNDS = 12
PYTHON = "python -c pass"
COMMANDS = {
    PYTHON: [sys.executable, "-c", "pass"],
    "python -c 'import argparse'": [sys.executable, "-c", "import argparse"],
    **{
        f"outlive {word}": [sys.executable, "-m", "outlive", word] for word in ("--version", "--help")
    },
}  # fmt: skip
MOST = 3.0


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    least = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            least[name] = min(least[name], _cpu_s(command))
    claims = [
        Claim(text=f"CPU of `{name}` over that of `{PYTHON}`", ratio=least[name] / least[PYTHON], bound=MOST)
        for name in COMMANDS
        if name.startswith("outlive")
    ]
    print(*claims, sep="\n")
    body = {"cpu_ms": {name: round(seconds * 1000, 2) for name, seconds in least.items()}}
    print(f"written to {write_results('start_cost', ('outlive',), claims, body)}")
    return 0 if all(claim.holds for claim in claims) else 1


def _cpu_s(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
