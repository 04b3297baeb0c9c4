"""Predictions about accelerators against real runs: `python benchmarks/delegates_agreement.py [--quick]`.

On the corpus models that run on the CPU: the operators XNNPACK takes against the runtime's own execution plan
(told by a delegate that only looks), the GPU's end (ran, raised, died) against a run by hand in a process of
its own, and the results of the ladder against those of the CPU. Parts that cannot be had here are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

import numpy as np
from side_by_side import Claim, finish

import outlive
from outlive.accelerators.configurations import choose_configurations
from outlive.accelerators.taken_ops import see_xnnpack
from outlive.accelerators.trial import TrialSettings, run_trial
from outlive.interpreter.ladder import AcceleratorWarning, has_gpu, software_driver
from outlive.verbs.judging import JUDGE
from tests.accelerators.small_library import build
from tests.accelerators.test_gpu import _by_hand
from tests.accelerators.test_ladder import _outputs
from tests.accelerators.test_taken_ops import plans

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("outlive", "ai-edge-litert", "numpy")
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared")


def corpus(quick: bool) -> list[Path]:
    """The models that run on the CPU without operators of their own."""
    lines = (CORPUS / "models" / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    names = [row["file"] for row in rows if row["outcome"] == "ok" and not row.get("custom_ops")]
    return [CORPUS / "models" / name for name in (names[::8] if quick else names)]


def xnnpack(paths: Sequence[Path]) -> list[str]:
    """Models of which XNNPACK takes other operators than we say."""
    way = choose_configurations(["xnnpack"])[-1]
    wrong = []
    for path, truth in zip(paths, plans(list(paths)), strict=True):
        found = see_xnnpack(
            outlive.read(path, tolerant=True),
            run_trial(way, TrialSettings(source=str(path), judge=JUDGE), run=False),
        )
        right = tuple(sorted(op for part in truth.get("taken", []) for op in part))
        if "error" not in truth and found.taken != right:
            wrong.append(path.name)
    return wrong


def gpu(paths: Sequence[Path]) -> list[str]:
    """Models that end otherwise on the GPU by hand than in our table."""
    way = choose_configurations(["gpu"])[-1]
    wrong = []
    for path in paths:
        seen = run_trial(way, TrialSettings(source=str(path), judge=JUDGE, inputs="zeros"))
        ours = "ran" if seen.runs else "died" if seen.death is not None else "raised"
        hand = _by_hand(path)
        print(f"  {path.name}: {ours}, by hand {hand}", flush=True)
        if ours != hand:
            wrong.append(path.name)
    return wrong


def ladder(paths: Sequence[Path]) -> list[str]:
    """Models for which the ladder gives another result than the CPU."""
    wrong = []
    for path in paths:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AcceleratorWarning)
            chosen, plain = (_outputs(str(path), accelerator=name) for name in ("auto", "cpu"))
        if not all(_same(first, second) for first, second in zip(chosen, plain, strict=True)):
            wrong.append(path.name)
    return wrong


def _same(first: Any, second: Any) -> bool:
    return bool(np.array_equal(first, second, equal_nan=first.dtype.kind == "f"))


def main() -> int:
    """Compare, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="an eighth of the models, no results written")
    quick = parser.parse_args().quick
    if not (CORPUS / "models" / "MANIFEST.jsonl").exists():
        print(f"needs the model corpus, and there is none in {CORPUS}; set OUTLIVE_CORPUS")
        return 0
    paths = corpus(quick)
    parts = {"ladder: right results": ladder}
    if build():
        parts["XNNPACK: operators taken as the execution plan shows"] = xnnpack
    if has_gpu() or software_driver() is not None:
        parts["GPU: ends as by hand"] = gpu
    wrong = {text: check(paths) for text, check in parts.items()}
    claims = [
        Claim(
            text=f"{text}, share of {len(paths)} models",
            ratio=1 - len(names) / len(paths),
            bound=1,
            at_least=True,
        )
        for text, names in wrong.items()
    ]
    return finish(
        "delegates_agreement", PACKAGES, claims, {"models": len(paths), "wrong": wrong}, quick=quick
    )


if __name__ == "__main__":
    sys.exit(main())
