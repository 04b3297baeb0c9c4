"""Plans beside what the runtime takes: `python benchmarks/plan_accuracy.py [--quick]`.

With XNNPACK: private memory from before a model is loaded to after its first invoke, in a fresh process each,
on the models of the corpus, on generated ones of the size people run, and on some of those resized. With the
builtin kernels: how many corpus models have every tensor at the address the plan says.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from build_large_models import Recipe, recipes
from side_by_side import Claim, write_results

from outlive.arena.builtin.planning import plan_builtin
from outlive.arena.plan import Question
from outlive.arena.xnnpack.isa import this_machine
from outlive.arena.xnnpack.planning import plan_xnnpack
from outlive.meter.sample import read_sample
from outlive.model import Model, read_source

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("outlive", "ai-edge-litert", "numpy")
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared") / "models"
MB = 1_000_000
LARGE_BYTES = 5 * MB
TIMEOUT_S = 300
# Generated models that are also planned and run with other inputs.
RESIZED: dict[str, tuple[tuple[int, ...], ...]] = {
    "mobilenet_96_float": ((1, 128, 128, 3), (1, 256, 256, 3)),
    "mobilenet_96_int8": ((2, 224, 224, 3),),
    "resnet50_160_dynamic": ((1, 320, 320, 3),),
    "unet_128_float": ((4, 128, 128, 3),),
}
QUICK = ("mobilenet_96_float", "mobilenet_96_half", "transformer_128_int8", "unet_128_dynamic")
# Waits at each stage, so that it is looked at from outside while it does nothing; zeros as inputs, for
# numpy's random generators take memory of their own.
CHILD = """
import json, os, sys
import numpy as np
from ai_edge_litert.interpreter import Interpreter

def mark(stage):
    os.write(1, stage.encode() + b"\\n")
    os.read(0, 1)

path, shape = sys.argv[1], json.loads(sys.argv[2])
mark("before")
interpreter = Interpreter(model_path=path)
mark("load")
if shape:
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], shape)
interpreter.allocate_tensors()
mark("allocate")
for row in interpreter.get_input_details():
    text = row["dtype"] in (np.bytes_, np.object_)
    value = np.full(row["shape"], b"a", object) if text else np.zeros(row["shape"], row["dtype"])
    interpreter.set_tensor(row["index"], value)
interpreter.invoke()
mark("invoke")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One model: what it was planned to take, and took at most."""

    model: str
    planned_bytes: int
    measured_bytes: int

    @property
    def error_bytes(self) -> int:
        """Planned less measured."""
        return self.planned_bytes - self.measured_bytes

    @property
    def error(self) -> float:
        """The same as a share of what was measured."""
        return self.error_bytes / self.measured_bytes

    @property
    def is_large(self) -> bool:
        """True if it takes 5 MB and more."""
        return self.measured_bytes >= LARGE_BYTES


def growth(path: Path, shape: tuple[int, ...] = ()) -> dict[str, int] | None:
    """Private bytes above the start after each stage; None if the model does not run to the end."""
    command = [sys.executable, "-c", CHILD, str(path), json.dumps(shape)]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    # What a caller tells malloc, or a library that was loaded before, is not the model's doing.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    stages: dict[str, int] = {}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, env=plain) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        for line in child.stdout:
            sample = read_sample(child.pid)
            stages[line.decode().strip()] = 0 if sample is None else sample.private_bytes
            child.stdin.write(b"x")
            child.stdin.flush()
        child.wait(TIMEOUT_S)
    if "invoke" not in stages:
        return None
    return {stage: size - stages["before"] for stage, size in stages.items() if stage != "before"}


def read(path: Path) -> Model | None:
    """The model in a file, if there is one."""
    return read_source(path).model


def compare(path: Path, shape: tuple[int, ...] = ()) -> Row | None:
    """Plan a model and run it; None if either refuses."""
    model = read(path)
    if model is None or not model.subgraphs:
        return None
    shapes = {(0, model.inputs[0].index): shape} if shape else {}
    plan = plan_xnnpack(model, Question(shapes=shapes))
    stages = growth(path, shape)
    if plan.peak_bytes is None or not stages:
        return None
    name = path.stem + ("" if not shape else " at " + "x".join(map(str, shape)))
    # It is looked at after each stage: what is held for a moment of one is over by then.
    planned = plan.peak_bytes - plan.transient_bytes
    return Row(model=name, planned_bytes=planned, measured_bytes=max(stages.values()))


def compare_generated(folder: Path, chosen: Iterator[Recipe]) -> list[Row]:
    """Generated models, one file at a time."""
    rows = []
    for recipe in chosen:
        path = folder / f"{recipe.name}.tflite"
        path.write_bytes(recipe.build())
        found = [compare(path, shape) for shape in ((), *RESIZED.get(recipe.name, ()))]
        rows += [row for row in found if row is not None]
        path.unlink()
    return rows


def builtin_exact() -> tuple[int, int]:
    """How many corpus models have all tensors where the builtin plan says, and how many allocate at all."""
    truth = import_module("tests.against_runtime.arena_truth")
    same = allocated = 0
    with truth.Runtime() as runtime:
        for path in sorted(CORPUS.glob("*.tflite")):
            real = runtime.allocate(path)
            model = read(path)
            if real.error or not real.places.get(0) or model is None:
                continue
            allocated += 1
            plan = plan_builtin(model, Question(accelerator="builtin"))
            same += not plan.refusals and not truth.differences(plan, model, real)
    return same, allocated


def quantile(values: list[float], share: float) -> float:
    """The value that this share of the others does not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))] if ranked else 0.0


def claims(groups: Mapping[str, list[Row]], exact: tuple[int, int]) -> list[Claim]:
    """What we promise, for each group of models by itself: rules tuned on one are held against the others."""
    checked = []
    for name, rows in groups.items():
        large = [abs(row.error) for row in rows if row.is_large]
        small = [abs(row.error_bytes) for row in rows if not row.is_large]
        if large:
            share = sum(error <= 0.1 for error in large) / len(large)
            text = f"share of the {len(large)} {name} models of 5 MB and more planned within 10 %"
            checked.append(Claim(text=text, ratio=share, bound=0.9, at_least=True))
        if small:
            text = f"largest error of the {len(small)} smaller {name} models, in MB"
            checked.append(Claim(text=text, ratio=max(small) / MB, bound=1))
    if exact[1]:
        text = f"share of {exact[1]} corpus models with every builtin tensor at the planned address"
        checked.append(Claim(text=text, ratio=exact[0] / exact[1], bound=0.95, at_least=True))
    return checked


def print_rows(name: str, rows: list[Row]) -> None:
    """The errors of a group, and its worst ten."""
    large = [abs(row.error) for row in rows if row.is_large]
    small = [float(abs(row.error_bytes)) for row in rows if not row.is_large]
    print(f"{name}: {len(large)} of 5 MB and more, {len(small)} smaller")
    half, most = quantile(large, 0.5), quantile(large, 0.9)
    print(f"  larger ones: half within {half:.1%}, nine in ten within {most:.1%}")
    kb = quantile(small, 0.5) / 1000, quantile(small, 0.9) / 1000
    print(f"  smaller ones: half within {kb[0]:.0f} KB, nine in ten within {kb[1]:.0f} KB")
    worst = sorted(
        rows, key=lambda row: -abs(row.error) if row.is_large else -abs(row.error_bytes) / LARGE_BYTES
    )
    for row in worst[:10]:
        planned, measured = row.planned_bytes / MB, row.measured_bytes / MB
        print(
            f"  {row.model[:48]:48} planned {planned:8.2f} MB, measured {measured:8.2f} MB, {row.error:+7.1%}"
        )


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="four models, no results written")
    quick = parser.parse_args().quick
    chosen = (recipe for recipe in recipes() if not quick or recipe.name in QUICK)
    groups: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory() as name:
        groups["generated"] = compare_generated(Path(name), chosen)
    paths = [] if quick else sorted(CORPUS.glob("*.tflite"))
    groups["corpus"] = [row for row in map(compare, paths) if row is not None]
    exact = (0, 0) if quick else builtin_exact()
    for group, rows in groups.items():
        print_rows(group, rows)
    print(f"builtin kernels: {exact[0]} of {exact[1]} corpus models byte for byte")
    checked = claims(groups, exact)
    print(*checked, sep="\n")
    if quick:
        return 0
    body = {
        "instruction_set": this_machine(),
        "builtin": {"allocated": exact[1], "byte_exact": exact[0]},
        **{
            group: [
                {
                    "model": row.model,
                    "planned_bytes": row.planned_bytes,
                    "measured_bytes": row.measured_bytes,
                    "error": round(row.error, 4),
                }
                for row in rows
            ]
            for group, rows in groups.items()
        },
    }
    print(f"written to {write_results('plan_accuracy', PACKAGES, checked, body)}")
    return 0 if all(claim.holds for claim in checked) else 1


if __name__ == "__main__":
    sys.exit(main())
