"""Planted leaks are found within their interval, and nothing that does not leak is called a leak.

python benchmarks/leak_accuracy.py           about a minute; results in benchmarks/results/leak_accuracy.json
python benchmarks/leak_accuracy.py --quick   every fifth case, no results written
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass

from planted_leaks import KB, Planted, innocents, leakers
from side_by_side import Claim, write_results

import outlive
from outlive import demo_models

PACKAGES = ("outlive", "ai-edge-litert", "numpy")
# A leak of this and more per round is promised to be found.
PROMISED_BYTES = 10 * KB


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case: what it leaks in truth, and what was said of it."""

    name: str
    truth: float
    what: str
    verdict: str
    rate: float
    low: float
    high: float
    above: float
    rounds: int
    seconds: float
    codes: tuple[str, ...]

    @property
    def promised(self) -> bool:
        """True if it must be found."""
        return self.truth >= PROMISED_BYTES or (self.what != "bytes" and self.truth > 0)

    @property
    def found(self) -> bool:
        """True if it is called a leak, and the truth lies within the interval."""
        return self.verdict == "leaks" and self.low <= self.truth <= self.high


def measure(planted: Planted) -> Row:
    """Ask about one case."""
    start = time.perf_counter()
    growth = outlive.leak(planted.function)
    stage = growth.worst
    trend = stage.trends.get(planted.what)
    low, high, rate = growth.low, growth.high, growth.bytes_per_iteration
    if trend is not None:
        low, high, rate = trend.low, trend.high, trend.per_round
    return Row(
        name=planted.name,
        truth=planted.truth,
        what=planted.what,
        verdict=growth.verdict,
        rate=rate,
        low=low,
        high=high,
        above=growth.above,
        rounds=stage.calls,
        seconds=time.perf_counter() - start,
        codes=tuple(finding.code for finding in growth.findings),
    )


def measure_runtime() -> list[tuple[str, str, float]]:
    """LiteRT itself, on the model that ships with the package: cycle, verdict, and what is ruled out."""
    growth = outlive.leak(str(demo_models.path("healthy")))
    return [(stage.cycle, stage.verdict, stage.above) for stage in growth.stages]


def main() -> int:
    """Measure, print, and hold the claims."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="every fifth case, and no results")
    quick = parser.parse_args().quick
    cases = [*leakers(), *innocents()][:: 5 if quick else 1]
    rows = []
    for planted in cases:
        rows.append(measure(planted))
        _print(rows[-1])
    runtime = measure_runtime()
    for cycle, verdict, above in runtime:
        print(f"LiteRT, {cycle}: {verdict}, nothing above {above:,.0f} bytes per round")
    claims = _claims(rows, runtime)
    print(*claims, sep="\n")
    if not quick:
        body = {"cases": [asdict(row) for row in rows], "runtime": [list(row) for row in runtime]}
        print(f"written to {write_results('leak_accuracy', PACKAGES, claims, body)}")
    return 0 if all(claim.holds for claim in claims) else 1


def _print(row: Row) -> None:
    found = f"{row.rate:,.4g} ({row.low:,.4g} to {row.high:,.4g})"
    print(
        f"{row.name:38} truth {row.truth:>12,.0f}  {row.verdict:20} {found:42} {row.rounds:6,} rounds"
        f" {row.seconds:5.1f} s  {' '.join(row.codes)}",
        flush=True,
    )


def _claims(rows: list[Row], runtime: list[tuple[str, str, float]]) -> list[Claim]:
    promised = [row for row in rows if row.promised]
    small = [row for row in rows if row.truth > 0 and not row.promised]
    innocent = [row for row in rows if row.truth == 0]
    alarms = [row for row in innocent if row.verdict == "leaks"]
    cleared = [row for row in innocent if row.verdict == "no leak"]
    flat = [verdict == "no leak" for _, verdict, _ in runtime]

    def share(some: int, all_of_them: int) -> float:
        return some / all_of_them if all_of_them else 1.0

    found = sum(row.found for row in promised)
    return [
        Claim(
            text=f"leaks of 10 KB and more found within their interval (of {len(promised)})",
            ratio=share(found, len(promised)),
            bound=1.0,
            at_least=True,
        ),
        Claim(
            text=f"leaks of 1 KB found (of {len(small)})",
            ratio=share(sum(row.verdict == "leaks" for row in small), len(small)),
            bound=0.5,
            at_least=True,
        ),
        Claim(text=f"false alarms (of {len(innocent)})", ratio=share(len(alarms), len(innocent)), bound=0.0),
        Claim(
            text=f"innocents that are cleared and not left open (of {len(innocent)})",
            ratio=share(len(cleared), len(innocent)),
            bound=0.8,
            at_least=True,
        ),
        Claim(
            text="cycles of LiteRT that do not leak",
            ratio=share(sum(flat), len(flat)),
            bound=1.0,
            at_least=True,
        ),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
