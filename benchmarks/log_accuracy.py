"""Autopsies beside the truth: `python benchmarks/log_accuracy.py [FOLDER]`.

FOLDER has cases.jsonl and logs of real failures (default: the corpus). A case says in patterns what an answer
must name, what is near, what it must never say, and which remedy helps. An answer is right, near, silent or
misleading; words that only quote the log do not count. The table counts them by kind of failure. The cost of
a folder is what is wrong in it: a misleading answer counts five times a silent one.

The tables of messages were written with these logs at hand: only other logs are a clean test. A random half
that was set aside until the tables were first complete was right for 21 of 28, misleading for 1. Later, fresh
public reports were judged by hand before anything was changed for them: right 34 of 40, 22 of 35, 23 of 33,
21 of 35; misleading 1, 1, 1, 4; a remedy that helps 33, 21, 22, 20.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, write_results

import outlive
from outlive.diagnosis.autopsy import Autopsy

REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared")
PACKAGES = ("outlive",)
VERDICTS = ("right", "near", "silent", "misleading")
COSTS = {"right": 0.0, "near": 0.5, "silent": 1.0, "misleading": 5.0}
# What a reader sees first, and how many words of the log in a row are a quotation.
MOST_CHARACTERS, MOST_REMEDIES, QUOTED_WORDS = 1500, 8, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One answer beside the truth."""

    id: str
    kind: str
    verdict: str
    remedy: bool
    code: str
    cause: str


def rows_of(folder: Path) -> Iterator[Row]:
    """Every case of a folder with what the autopsy of its log came to."""
    for line in (folder / "cases.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        told = outlive.autopsy(folder / case["file"])
        verdict = judged(told, case["expect"], (folder / case["file"]).read_bytes().decode(errors="replace"))
        helps = verdict in ("right", "near") and _hit(case["expect"]["remedy_any"], "\n".join(told.do))
        yield Row(
            id=case["id"], kind=case["kind"], verdict=verdict, remedy=helps, code=told.code, cause=told.cause
        )


def judged(told: Autopsy, expected: Mapping[str, Any], log: str) -> str:
    """Right, near, silent or misleading."""
    words = [*map(_plain, log.split())]
    quoted = {tuple(words[at : at + QUOTED_WORDS]) for at in range(len(words) - QUOTED_WORDS + 1)}
    said = "\n".join(_unquoted(text, quoted) for text in (told.cause, told.stage, told.meaning, *told.do))
    if _hit(expected.get("never", ()), said):
        return "misleading"
    if _hit(expected["cause_any"], said[:MOST_CHARACTERS]):
        return "right"
    if _hit(expected.get("near", ()), said[:MOST_CHARACTERS]):
        return "near"
    return "silent" if told.cause in ("", "unknown") else "misleading"


def _unquoted(text: str, quoted: set[tuple[str, ...]]) -> str:
    words = text.split()
    plain = [*map(_plain, words)]
    gone: set[int] = set()
    for at in range(len(words) - QUOTED_WORDS + 1):
        if tuple(plain[at : at + QUOTED_WORDS]) in quoted:
            gone.update(range(at, at + QUOTED_WORDS))
    return " ".join(word for at, word in enumerate(words) if at not in gone)


def _plain(word: str) -> str:
    return re.sub(r"^\W+|\W+$", "", word).lower()


def _hit(patterns: Any, text: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE | re.MULTILINE) for pattern in patterns or ())


def table(rows: list[Row]) -> list[str]:
    """The confusion table: kinds of failure by verdict."""
    counts = Counter((row.kind.partition("-")[0], row.verdict) for row in rows)
    kinds = sorted({kind for kind, _ in counts})
    head = f"{'kind':14}" + "".join(f"{verdict:>12}" for verdict in VERDICTS)
    return [
        head,
        *(f"{kind:14}" + "".join(f"{counts[kind, word]:12}" for word in VERDICTS) for kind in kinds),
    ]


def claims_of(rows: list[Row]) -> list[Claim]:
    """What is promised of logs that nobody has looked at; those at hand do better."""
    count = len(rows)
    share = Counter(row.verdict for row in rows)
    cost = sum(COSTS[row.verdict] for row in rows)
    return [
        Claim(text="right answers", ratio=share["right"] / count, bound=0.8, at_least=True),
        Claim(text="misleading answers", ratio=share["misleading"] / count, bound=0.02),
        Claim(
            text="useful remedies", ratio=sum(row.remedy for row in rows) / count, bound=0.6, at_least=True
        ),
        Claim(text="cost of an answer, misleading 5, silent 1", ratio=cost / count, bound=0.3),
    ]


def main() -> int:
    """Judge every log, print the table, and hold the claims."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=CORPUS / "logs")
    rows = list(rows_of(parser.parse_args().folder))
    print(*table(rows), sep="\n")
    for row in rows:
        if row.verdict != "right" or not row.remedy:
            print(f"{row.id}: {row.verdict}, remedy {'useful' if row.remedy else 'missing'}, {row.code}")
    claims = claims_of(rows)
    print(*claims, sep="\n")
    body = {"table": table(rows), "answers": [asdict(row) for row in rows]}
    print(f"written to {write_results('log_accuracy', PACKAGES, claims, body)}")
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
