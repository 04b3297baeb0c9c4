"""Every metric once more, the slow and plain way, in a process of its own with LiteRT's own interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PROGRAM = """
import sys, json, warnings, numpy as np
warnings.simplefilter("ignore")
from ai_edge_litert.interpreter import Interpreter
folder = sys.argv[1]
samples = np.load(folder + "/samples.npy")
found = {}
for side in ("reference", "candidate"):
    engine = Interpreter(folder + f"/{side}.tflite", experimental_preserve_all_tensors=True)
    engine.allocate_tensors()
    rows = [row for row in engine.get_tensor_details() if row["name"]]
    for number, sample in enumerate(samples):
        engine.set_tensor(engine.get_input_details()[0]["index"], sample)
        engine.invoke()
        for row in rows:
            found[f"{side}|{row['name']}|{number}"] = engine.get_tensor(row["index"]).copy()
np.savez(folder + "/values.npz", **found)
"""


def all_values(reference: bytes, candidate: bytes, samples: list[NDArray[Any]], folder: Path) -> Any:
    """Every tensor of both models for every sample: `values["candidate|name|0"]`."""
    (folder / "reference.tflite").write_bytes(reference)
    (folder / "candidate.tflite").write_bytes(candidate)
    np.save(folder / "samples.npy", np.stack(samples))
    subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(folder)], check=True, capture_output=True, timeout=120
    )
    return np.load(folder / "values.npz")


def metrics(wanted: NDArray[Any], found: NDArray[Any], raw: NDArray[Any], scale: float) -> dict[str, float]:
    """All of them, of all samples at once."""
    wanted, found = wanted.astype(np.float64).ravel(), found.astype(np.float64).ravel()
    error = found - wanted
    low, high = scale * -128, scale * 127
    least, most = raw.ravel() == -128, raw.ravel() == 127
    beyond = (least & (wanted < low - scale / 2)) | (most & (wanted > high + scale / 2))
    step = (max(wanted.max(), 0) - min(wanted.min(), 0)) / 255
    rmse = float(np.sqrt(np.mean(error**2)))
    return {
        "num_elements": error.size,
        "stddev": float(np.std(error)),
        "mean_error": float(np.mean(error)),
        "max_abs_error": float(np.max(np.abs(error))),
        "mean_squared_error": float(np.mean(error**2)),
        "rmse": rmse,
        "rmse/scale": rmse / scale,
        "sqnr_db": float(10 * np.log10(np.sum(wanted**2) / np.sum(error**2))),
        "cosine": float(wanted @ found / np.linalg.norm(wanted) / np.linalg.norm(found)),
        "reference_min": float(wanted.min()),
        "reference_max": float(wanted.max()),
        "at_limit_share": float(np.mean(least | most)),
        "saturated_share": float(np.mean(beyond)),
        "range_used": float((int(raw.max()) - int(raw.min())) / 255),
        "rmse_over_ideal_step": rmse / step,
        "not_finite": 0,
    }
