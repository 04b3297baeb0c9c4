"""How right the TFLM plan is, beside mcufit's figure: `python benchmarks/tflm_accuracy.py [--corpus FOLDER]`.

The truth is `tflm_truth.jsonl` of the corpus: the real TensorFlow Lite Micro, built for a Cortex-M4, asked
for its `arena_used_bytes` and searched for the smallest arena that allocates. Ours is the plan from the file
alone. mcufit's is what its command line tells: TFLM in wasm32, run under Node.js, with a recording allocator
and room for 100 resource variables in its arena; that one is also held against our plan for the same build.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, write_results

from outlive.arena.plan import Question
from outlive.arena.tflm.planning import plan_tflm
from outlive.interpreter.tflm_benchmark import MicroMeasure, NotMeasured, measure_micro
from outlive.model import Model, read_source

PACKAGES = ("outlive", "mcufit")
DEFAULT_CORPUS = os.environ.get("OUTLIVE_CORPUS") or str(Path(__file__).resolve().parents[2] / "shared")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One model TFLM takes: bytes as they are, as we and as mcufit say; None where there is no figure."""

    model: str
    used: int
    ours: int | None
    least: int | None
    ours_least: int | None
    head: int
    ours_head: int | None
    cmsis_nn: int | None
    ours_cmsis_nn: int | None
    used_64: int
    ours_64: int | None
    mcufit: int | None
    ours_as_mcufit: int | None


def used(
    model: Model, *, benchmark: bool = False, **question: str
) -> tuple[int | None, int | None, int | None]:
    """Head, head and tail, smallest arena of our plan."""
    plan = plan_tflm(model, Question(accelerator="tflm", **question), benchmark=benchmark)  # type: ignore[arg-type]
    if plan.arena_bytes is None or plan.persistent_bytes is None:
        return None, None, None
    return plan.arena_bytes, plan.arena_bytes + plan.persistent_bytes, plan.min_arena_bytes


def compare(path: Path, model: Model, truth: dict[str, Any], mcufit: bool) -> Row:
    """All figures of one model TFLM takes."""
    head, total, least = used(model)
    answer = measure_micro(path) if mcufit else None
    theirs = answer.used_bytes if isinstance(answer, MicroMeasure) else None
    return Row(
        model=path.name,
        used=truth["arena_used_bytes_32"],
        ours=total,
        least=truth["min_arena_bytes_32"],
        ours_least=least,
        head=truth["planner_bytes"],
        ours_head=head,
        cmsis_nn=truth["cmsis_nn_m4"].get("arena_used_bytes_32"),
        ours_cmsis_nn=used(model, kernels="cmsis-nn")[1],
        used_64=truth["arena_used_bytes_64"],
        ours_64=used(model, abi="host64")[1],
        mcufit=theirs,
        ours_as_mcufit=used(model, abi="wasm32", benchmark=True)[1] if theirs is not None else None,
    )


def known(corpus: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each model the real TFLM was asked about, with its answer."""
    lines = (corpus / "tflm_truth.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["sha256"]: row for row in map(json.loads, lines)}
    for path in sorted((corpus / "models").glob("*.tflite")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest in rows:
            yield path, rows[digest]


def share(pairs: Sequence[tuple[int | None, int | None]]) -> float:
    """The share of pairs that are equal, of those with a truth."""
    known_pairs = [pair for pair in pairs if pair[0] is not None]
    return sum(a == b for a, b in known_pairs) / len(known_pairs) if known_pairs else 1.0


def claims(rows: Sequence[Row], agreed: int, asked: int) -> list[Claim]:
    """What we promise of the plan."""
    found = [
        Claim(text="models taken or refused as TFLM does", ratio=agreed / asked, bound=1, at_least=True),
        Claim(
            text="head exact, Cortex-M",
            ratio=share([(r.head, r.ours_head) for r in rows]),
            bound=1,
            at_least=True,
        ),
    ]
    for text, pairs in (
        ("arena_used_bytes exact, Cortex-M", [(r.used, r.ours) for r in rows]),
        ("smallest arena exact, Cortex-M", [(r.least, r.ours_least) for r in rows]),
        ("arena_used_bytes exact, 64-bit host", [(r.used_64, r.ours_64) for r in rows]),
        ("arena_used_bytes exact, CMSIS-NN on a Cortex-M4", [(r.cmsis_nn, r.ours_cmsis_nn) for r in rows]),
    ):
        found.append(Claim(text=text, ratio=share(pairs), bound=0.95, at_least=True))
    measured = [(r.mcufit, r.ours_as_mcufit) for r in rows if r.mcufit is not None]
    if measured:
        text = f"our wasm32 figure is mcufit's, on the {len(measured)} models it answers for"
        found.append(Claim(text=text, ratio=share(measured), bound=1, at_least=True))
    return found


def off(truth: int, figure: int | None) -> str:
    """How far a figure is from the truth."""
    if figure is None:
        return "-"
    return "exact" if figure == truth else f"{figure - truth:+,} ({(figure - truth) / truth:+.1%})"


def print_table(rows: Sequence[Row]) -> None:
    """One line per model: the truth, our error, mcufit's."""
    print(f"{'model':44} {'TFLM, Cortex-M':>15} {'outlive':>12} {'mcufit':>22}")
    for row in rows:
        ours, theirs = off(row.used, row.ours), off(row.used, row.mcufit)
        print(f"{row.model[:44]:44} {row.used:13,} B {ours:>12} {theirs:>22}")


def main() -> int:
    """Compare, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", default=DEFAULT_CORPUS, help="folder with models/ and tflm_truth.jsonl")
    parser.add_argument("--quick", action="store_true", help="without mcufit, no results written")
    arguments = parser.parse_args()
    corpus = Path(arguments.corpus)
    if not (corpus / "tflm_truth.jsonl").is_file():
        print(f"no {corpus / 'tflm_truth.jsonl'}: name a folder that has it with --corpus or OUTLIVE_CORPUS")
        return 2
    absent = measure_micro(b"") if not arguments.quick else NotMeasured(reason="not asked", remedy="-")
    mcufit = not (isinstance(absent, NotMeasured) and absent.remedy)
    rows: list[Row] = []
    asked = agreed = 0
    for path, truth in known(corpus):
        model = read_source(path).model
        asked += 1
        agreed += (model is not None and used(model)[0] is not None) == truth["ok"]
        if truth["ok"] and model is not None:
            rows.append(compare(path, model, truth, mcufit))
    print_table(rows)
    if not mcufit and isinstance(absent, NotMeasured):
        print(f"mcufit's column is empty: {absent.reason}" + f" ({absent.remedy})" * (not arguments.quick))
    checked = claims(rows, agreed, asked)
    print(*checked, sep="\n")
    if arguments.quick:
        return 0
    body = {"models": asked, "taken": len(rows), "rows": [asdict(row) for row in rows]}
    print(f"written to {write_results('tflm_accuracy', PACKAGES, checked, body)}")
    return 0 if all(claim.holds for claim in checked) else 1


if __name__ == "__main__":
    sys.exit(main())
