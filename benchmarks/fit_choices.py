"""Is what `fit` chooses right? `python benchmarks/fit_choices.py [--quick]`

Four trained networks (shaped as MobileNetV2, EfficientNet, DeepLab and DS-CNN) at three budgets each. The
chosen file is run again in a worker limited to the budget, its memory held against the plan, and its loss
measured anew by a program that knows nothing of outlive.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import numpy as np
from fit_networks import FAMILIES, Trained, trained
from side_by_side import Claim, finish

import outlive
from outlive.finding import Tag
from outlive.fitting import Fit
from outlive.fitting.evaluation import SLACK_BYTES, SLACK_SHARE, engine_arguments
from outlive.interpreter.judge import Judge
from outlive.interpreter.recorded_run import record_run

PACKAGES = ("outlive", "ai-edge-litert", "ai-edge-quantizer", "scikit-learn", "numpy")
MORE = 10**9
QUICK = ("keyword_spotter",)
# How right a file is, by LiteRT itself: pictures are made smaller by a mean over what each dot covers.
JUDGE = """
import sys
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

path, known, kernels = sys.argv[1:]
known = np.load(known)
kinds = {"cpu": "AUTO", "builtin": "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "reference": "BUILTIN_REF"}
engine = Interpreter(model_path=path, experimental_op_resolver_type=OpResolverType[kinds[kernels]])
engine.allocate_tensors()
[given], [made] = engine.get_input_details(), engine.get_output_details()

def covered(old, new):
    weights = np.zeros((new, old))
    for row in range(new):
        low, high = row * old / new, (row + 1) * old / new
        for dot in range(old):
            weights[row, dot] = max(0.0, min(high, dot + 1) - max(low, dot))
    return weights / weights.sum(1, keepdims=True)

found = []
for sample in known["samples"]:
    _, high, wide, _ = given["shape"]
    rows, columns = covered(sample.shape[1], high), covered(sample.shape[2], wide)
    value = np.einsum("ih,bhwc,jw->bijc", rows, sample.astype(np.float64), columns).astype(np.float32)
    engine.set_tensor(given["index"], sample if sample.shape[1:3] == (high, wide) else value)
    engine.invoke()
    found.append(engine.get_tensor(made["index"]).argmax(-1).ravel())
print(float((np.concatenate(found) == known["labels"].ravel()).mean()))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One network at one budget: what was chosen, and whether it is what it was said to be."""

    family: str
    ram_bytes: int
    chosen: str
    verdict: str
    ran_within: bool
    planned_bytes: int
    measured_bytes: int
    within_error: bool
    loss: float
    loss_again: float
    passed_over: int
    tried: int
    seconds: float

    @property
    def same_loss(self) -> bool:
        """True if both counted the same."""
        return abs(self.loss - self.loss_again) < 1e-9


def budgets(one: Trained) -> list[int]:
    """Room for all candidates; not quite enough for the model as it is; and for hardly any of them."""
    fit = outlive.fit(one.model, ram=MORE, samples=one.samples, metric=one.accuracy(), all=True)
    rows = [row for row in fit.candidates if row.measured_peak_bytes and not row.candidate.weight_cache]
    peaks = sorted(row.measured_peak_bytes or 0 for row in rows)
    same = min(row.measured_peak_bytes or 0 for row in rows if row.tag is Tag.SAME_RESULTS)
    return [int(1.25 * peaks[-1]), int(0.9 * same), int(1.25 * peaks[0])]


def judge(one: Trained, ram_bytes: int) -> Row:
    """Search within a budget, and look at what was chosen with other eyes."""
    fit = outlive.fit(one.model, ram=ram_bytes, samples=one.samples, metric=one.accuracy())
    chosen = fit.chosen
    if chosen is None or fit.original_score is None or chosen.loss is None:
        raise RuntimeError(f"nothing fits {ram_bytes:,} bytes of {one.name}")
    planned, measured = chosen.peak_bytes or 0, chosen.measured_peak_bytes or 0
    less = [row for row in fit.candidates if row.fits and row.loss is not None and row.loss < chosen.loss]
    return Row(
        family=one.name,
        ram_bytes=ram_bytes,
        chosen=str(chosen.candidate),
        verdict=chosen.verdict,
        ran_within=_runs_within(fit),
        planned_bytes=planned,
        measured_bytes=measured,
        within_error=abs(planned - measured) <= max(SLACK_BYTES, SLACK_SHARE * planned),
        loss=chosen.loss,
        loss_again=max(0.0, fit.original_score - _score(fit, one)),
        passed_over=len(less),
        tried=sum(row.verdict != "not tried" for row in fit.candidates),
        seconds=round(fit.seconds, 2),
    )


def _runs_within(fit: Fit) -> bool:
    assert fit.chosen is not None
    ram_bytes = fit.budget.ram_bytes
    with tempfile.TemporaryDirectory() as folder:
        # From a file, as it is meant: bytes that an interpreter is given are private memory.
        path, cache = os.path.join(folder, "chosen.tflite"), os.path.join(folder, "weights")
        fit.save(path)
        settings = engine_arguments(fit.chosen.candidate, cache)
        flight = record_run("random", 1, 0, judge=Judge(), model_path=path, memory=ram_bytes, **settings)
    return not flight.died and not flight.error_type and (flight.peak_bytes or 0) <= ram_bytes


def _score(fit: Fit, one: Trained) -> float:
    assert fit.chosen is not None
    with tempfile.TemporaryDirectory() as folder:
        path, known = os.path.join(folder, "chosen.tflite"), os.path.join(folder, "known.npz")
        fit.save(path)
        np.savez(known, samples=np.stack(one.samples), labels=one.labels)
        command = [sys.executable, "-c", JUDGE, path, known, fit.chosen.candidate.accelerator]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def main() -> int:
    """Judge all networks at all budgets; the exit code is 1 if a claim falls short."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one network; nothing is written")
    quick = parser.parse_args().quick
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        os.environ["OUTLIVE_CACHE"] = cache
        for family in QUICK if quick else FAMILIES:
            one = trained(family, width=24 if family == "keyword_spotter" else 16)
            for ram_bytes in budgets(one):
                rows.append(judge(one, ram_bytes))
                print(json.dumps(asdict(rows[-1])), flush=True)
    count = len(rows)
    claims = [
        Claim(
            text="chosen candidates that run in a worker limited to the budget",
            ratio=sum(row.ran_within for row in rows) / count,
            bound=1,
            at_least=True,
        ),
        Claim(
            text="chosen candidates whose peak is within the plan's error",
            ratio=sum(row.within_error for row in rows) / count,
            bound=1,
            at_least=True,
        ),
        Claim(
            text="losses that another program finds as well",
            ratio=sum(row.same_loss for row in rows) / count,
            bound=1,
            at_least=True,
        ),
        Claim(
            text="candidates that fit, lose less, and were passed over",
            ratio=sum(row.passed_over for row in rows),
            bound=0,
        ),
    ]
    return finish("fit_choices", PACKAGES, claims, {"rows": [asdict(row) for row in rows]}, quick=quick)


if __name__ == "__main__":
    sys.exit(main())
