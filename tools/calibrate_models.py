"""Measures what the float model's activations do and writes healthy_ranges.json, which build_models.py reads.

    python tools/calibrate_models.py && python tools/build_models.py

Needs LiteRT, which runs in a process of its own. The result is kept in the repository, so that rebuilding
the models needs no runtime and gives the same bytes everywhere.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from build_models import CLASSES, MEASURED, healthy
from model_sketch import Array

from outlive.surgery import write

PICTURES = 200
SEED = 100

MEASURE = """
import json, sys
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
interpreter = Interpreter(
    sys.argv[1],
    experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    experimental_preserve_all_tensors=True,
)
interpreter.allocate_tensors()
image = interpreter.get_input_details()[0]["index"]
seen = {}
for picture in np.load(sys.argv[2]):
    interpreter.set_tensor(image, picture[None])
    interpreter.invoke()
    for entry in interpreter.get_tensor_details():
        if entry["name"] in sys.argv[3:]:
            seen.setdefault(entry["name"], []).append(interpreter.get_tensor(entry["index"]))
ranges = {name: [float(np.min(all)), float(np.max(all))] for name, all in seen.items()}
print(json.dumps({"ranges": ranges, "mean": np.mean(seen["head/dense"], axis=(0, 1)).tolist()}))
"""


def pictures(count: int, seed: int) -> Array:
    """Random pictures of two colours each, in coarse patches under some noise; values from -1 to 1."""
    random = np.random.RandomState(seed)
    ground, colour = random.uniform(-1, 1, (2, count, 1, 1, 3))
    patches = random.randint(0, 2, (count, 8, 8, 1)).repeat(8, axis=1).repeat(8, axis=2)
    noise = random.uniform(-1, 1, (count, 64, 64, 3)) * random.uniform(0, 0.3, (count, 1, 1, 1))
    clipped: Array = np.clip(np.where(patches, colour, ground) + noise, -1, 1).astype(np.float32)
    return clipped


def measure(samples: Array) -> Any:
    """The range of every activation of the healthy model, and the mean of its logits."""
    tree = healthy()
    names = [tensor["name"] for tensor in tree["subgraphs"][0]["tensors"] if "buffer" not in tensor]
    with tempfile.TemporaryDirectory() as folder:
        model, data = Path(folder, "healthy.tflite"), Path(folder, "pictures.npy")
        model.write_bytes(write(tree))
        np.save(data, samples)
        command = [sys.executable, "-c", MEASURE, str(model), str(data), *names]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Centre the logits, so that every class is met, then measure the ranges."""
    samples = pictures(PICTURES, SEED)
    bias = [0.0] * CLASSES
    MEASURED.write_text(json.dumps({"head/dense/bias": bias}))
    bias = [round(-mean, 4) for mean in measure(samples)["mean"]]
    MEASURED.write_text(json.dumps({"head/dense/bias": bias}))
    ranges = {name: [round(end, 4) for end in ends] for name, ends in measure(samples)["ranges"].items()}
    document = {
        "about": f"Activations of the healthy model over {PICTURES} pictures; made by calibrate_models.py",
        "head/dense/bias": bias,
        "ranges": ranges,
    }
    MEASURED.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
