"""Plans beside what the runtime takes: `python benchmarks/plan_accuracy.py [--quick] [--models FOLDER]`.

For XNNPACK and for LiteRT's builtin kernels: the most private memory from before a model is loaded to after
its second invoke, in a plain process that is stopped whenever it may give memory back (`exact_peak.py`),
beside the plan. On the models of the corpus and on generated ones of up to 100 MB, some of them resized.
Claims are made on the held-out half of the names, which nobody may look at while rules are changed (`--seen`
leaves it out); what `outlive plan` says of its accuracy is written from that half into arena/accuracy.json.
Rules from before this split had both halves of the corpus and of the older drawn families in view.
Last, whether a model runs in the memory that its plan says is enough.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from build_large_models import MEGABYTES, build, recipes
from exact_peak import can_trace, stage_peaks
from side_by_side import Claim, write_results

import outlive
from outlive.arena.budget import ERROR_BYTES, ERROR_SHARE, LARGE_BYTES, Budget, error_bytes, tally, weigh
from outlive.arena.budget import PATH as ACCURACY
from outlive.arena.builtin.planning import plan_builtin
from outlive.arena.plan import Plan, Question
from outlive.errors import OutliveError
from outlive.kernels.xnnpack.node_memory import this_machine
from outlive.model import read_source

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("outlive", "ai-edge-litert", "numpy", "tensorflow", "ai-edge-quantizer")
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared") / "models"
MODELS = Path(os.environ.get("OUTLIVE_LARGE_MODELS") or Path(tempfile.gettempdir()) / "outlive-large-models")
MB = 1_000_000
RESOLVERS = {"cpu": "AUTO", "builtin": "BUILTIN_WITHOUT_DEFAULT_DELEGATES"}
STAGES = ("load", "allocate", "invoke", "invoke again")
# Generated models that are also planned and run with other inputs, by the beginning of their names.
RESIZED: dict[str, tuple[tuple[int, ...], ...]] = {
    "mobilenet_96_float": ((1, 128, 128, 3), (1, 256, 256, 3)),
    "mobilenet_96_int8": ((2, 224, 224, 3),),
    "resnet50_160_dynamic": ((1, 320, 320, 3),),
    "unet_128_float": ((4, 128, 128, 3),),
    "open_": ((1, 64), (1, 256)),
}
QUICK = ("mobilenet_96_float", "mobilenet_96_half", "transformer_128_int8", "unet_128_dynamic")
# Memory that is granted in the last part, as multiples of the least that a plan calls enough.
GRANTED = (1.0, 1.1)
# What it is run on there: ones, unless they are no index of its tables.
FILLS = ("ones", "zeros")
# Numbers are written in place: an array to set would be memory of the program's own. Floats are not zero,
# because kernels skip products of nothing but zeros (IsZeroVector in tflite/kernels/fully_connected.cc).
CHILD = """
import json, os, sys
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

path, resolver, shape = sys.argv[1], OpResolverType[sys.argv[2]], json.loads(sys.argv[3])
os.write(1, b".")
os.read(0, 1)
interpreter = Interpreter(model_path=path, experimental_op_resolver_type=resolver)
native = interpreter._interpreter
os.write(1, b".")
inputs = [int(index) for index in native.InputIndices()]
if shape:
    native.ResizeInputTensor(inputs[0], np.array(shape, np.int32), False, 0)
native.AllocateTensors()
os.write(1, b".")
for index in inputs:
    if native.TensorType(index, 0) in (np.bytes_, np.object_):
        native.SetTensor(index, np.full(native.TensorSize(index, 0), b"a", object), 0)
    else:
        view = interpreter.tensor(index)()
        view[...] = 0.5 if view.dtype.kind == "f" else 0
        del view
for _ in range(2):
    native.Invoke()
    os.write(1, b".")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One model with one kind of kernels: what it was planned to take, and took at most."""

    model: str
    accelerator: str
    planned_bytes: int
    measured_bytes: int
    bound: str
    held_out: bool
    stage: str  # in which it took the most

    @property
    def error_bytes(self) -> int:
        """Planned less measured."""
        return self.planned_bytes - self.measured_bytes

    @property
    def error(self) -> float:
        """The same as a share of what was measured."""
        return self.error_bytes / max(1, self.measured_bytes)

    @property
    def is_large(self) -> bool:
        """True if it takes 5 MB and more."""
        return self.measured_bytes >= LARGE_BYTES


def is_held_out(name: str) -> bool:
    """Whether a model is in the half that rules are never tuned on: a matter of its name alone."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def measure(path: Path, accelerator: str, shape: Sequence[int] = ()) -> dict[str, int] | None:
    """The most private bytes in each stage; None if the model does not run to the end."""
    command = [sys.executable, "-c", CHILD, str(path), RESOLVERS[accelerator], json.dumps(shape)]
    # What a caller tells malloc, or a library that was loaded before, is not the model's doing.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    found = stage_peaks(command, plain, STAGES)
    return found if len(found) == len(STAGES) else None


def plan(path: Path, accelerator: str, shape: Sequence[int] = ()) -> Plan | None:
    """The plan as a user gets it; None for a file that is no model, or one that cannot be so."""
    model = read_source(path).model
    if model is None or not model.subgraphs:
        return None
    inputs = {model.inputs[0].name: tuple(shape)} if shape else {}
    try:
        return outlive.plan(path, accelerator=accelerator, inputs=inputs)
    except (OutliveError, ValueError):
        return None


def compare(path: Path, shape: Sequence[int] = (), accelerator: str = "cpu") -> Row | None:
    """Plan a model and run it; None if either refuses."""
    found = plan(path, accelerator, shape)
    stages = None if found is None or found.peak_bytes is None else measure(path, accelerator, shape)
    if found is None or found.peak_bytes is None or not stages:
        return None
    stage = max(stages, key=lambda name: stages[name])
    return Row(
        model=path.stem + ("" if not shape else " at " + "x".join(map(str, shape))),
        accelerator=accelerator,
        planned_bytes=found.peak_bytes,
        measured_bytes=stages[stage],
        bound=found.bound,
        held_out=is_held_out(path.stem),
        stage=stage,
    )


def files(folder: Path, quick: bool) -> Iterator[tuple[Path, tuple[tuple[int, ...], ...]]]:
    """Generated models, made where they are not there yet, and the corpus; each with shapes to try."""
    for recipe in recipes(MEGABYTES):
        path = build(recipe, folder) if not quick or recipe.name in QUICK else None
        shapes = next((found for name, found in RESIZED.items() if recipe.name.startswith(name)), ())
        if path is not None:
            yield path, shapes
    for path in [] if quick else sorted(CORPUS.glob("*.tflite")):
        yield path, ()


def grant(path: Path, accelerator: str) -> list[dict[str, Any]]:
    """Whether a model runs in the memory that its plan says is enough, and in somewhat more."""
    return list(_grant(path, accelerator))


def _grant(path: Path, accelerator: str) -> Iterator[dict[str, Any]]:
    found = plan(path, accelerator)
    error = None if found is None else error_bytes(found)
    if found is None or found.peak_bytes is None or error is None:
        return
    fill = next((fill for fill in FILLS if _runs(path, fill, accelerator)), None)
    for share in GRANTED if fill else ():
        ram = int(share * (found.peak_bytes + error)) + 1
        budget = Budget(kind="ram", title="", ram_bytes=ram, source="")
        assert weigh(found, budget).fits
        try:
            flight = outlive.run(path, fill, accelerator=accelerator, limits=outlive.Limits(memory=ram))
        except OutliveError as error_said:
            yield {
                "model": path.stem,
                "accelerator": accelerator,
                "ram_bytes": ram,
                "end": str(error_said)[:100],
            }
            continue
        end = (
            "ran"
            if not flight.died and not flight.error_type
            else f"ended in {flight.stage}: {flight.signal or flight.error_type}"
        )
        yield {"model": path.stem, "accelerator": accelerator, "ram_bytes": ram, "end": end}


def _runs(path: Path, fill: str, accelerator: str) -> bool:
    """Whether a model runs at all with its inputs filled so."""
    try:
        flight = outlive.run(path, fill, accelerator=accelerator)
    except OutliveError:
        return False
    return not flight.died and not flight.error_type


def builtin_exact() -> tuple[int, int]:
    """How many corpus models have all tensors where the builtin plan says, and how many allocate at all."""
    truth = import_module("tests.against_runtime.arena_truth")
    same = allocated = 0
    with truth.Runtime() as runtime:
        for path in sorted(CORPUS.glob("*.tflite")):
            real = runtime.allocate(path)
            model = read_source(path).model
            if real.error or not real.places.get(0) or model is None:
                continue
            allocated += 1
            found = plan_builtin(model, Question(accelerator="builtin"))
            same += not found.refusals and not truth.differences(found, model, real)
    return same, allocated


def claims(rows: Sequence[Row], granted: Sequence[dict[str, Any]], exact: tuple[int, int]) -> list[Claim]:
    """What we promise on the held-out half, for each kind of kernels."""
    checked = []
    for accelerator in RESOLVERS:
        own = [row for row in rows if row.held_out and row.accelerator == accelerator]
        counts = tally([asdict(row) for row in own]).values()
        large, small = (sum(found[name] for found in counts) for name in ("large", "small"))
        near, near_small = (sum(found[f"{name}_within"] for found in counts) for name in ("large", "small"))
        low = sum(row.is_large and row.bound != "lower" and row.error < -ERROR_SHARE for row in own)
        text = f"held-out {accelerator} models of 5 MB and more ({large})"
        if large:
            share = f"{text}: share within 3 %"
            checked.append(Claim(text=share, ratio=near / large, bound=0.95, at_least=True))
            checked.append(Claim(text=f'{text}: too low by more without "at least"', ratio=low, bound=0))
        if small:
            text = f"held-out smaller {accelerator} models ({small}): share within 200 kB"
            checked.append(Claim(text=text, ratio=near_small / small, bound=1, at_least=True))
    if granted:
        failed = sum(item["end"] != "ran" for item in granted)
        text = f"models that do not run in memory that their plan calls enough (of {len(granted)} runs)"
        checked.append(Claim(text=text, ratio=failed, bound=0))
    if exact[1]:
        text = f"share of {exact[1]} corpus models with every builtin tensor at the planned address"
        checked.append(Claim(text=text, ratio=exact[0] / exact[1], bound=0.95, at_least=True))
    return checked


def print_rows(title: str, rows: Iterable[Row]) -> None:
    """The errors of some models by what their plans call themselves, and the worst ten."""
    rows = list(rows)
    for bound, count in Counter(row.bound for row in rows if row.is_large).items():
        near = sum(abs(row.error) <= ERROR_SHARE for row in rows if row.is_large and row.bound == bound)
        low = sum(row.error < -ERROR_SHARE for row in rows if row.is_large and row.bound == bound)
        print(f"{title}, {bound}: {count} of 5 MB and more, {near} within 3 %, {low} too low by more")
    small = [row for row in rows if not row.is_large]
    near = sum(abs(row.error_bytes) <= ERROR_BYTES for row in small)
    print(f"{title}: {len(small)} smaller, {near} within 200 kB")
    worst = sorted(
        rows, key=lambda row: abs(row.error) if row.is_large else abs(row.error_bytes) / LARGE_BYTES
    )
    for row in reversed(worst[-10:]):
        planned, measured = row.planned_bytes / MB, row.measured_bytes / MB
        print(
            f"  {row.model[:48]:48} {row.bound:8} planned {planned:8.2f} MB, measured {measured:8.2f} MB "
            f"({row.stage}), {row.error:+7.1%}"
        )


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="four models, nothing written")
    parser.add_argument("--models", type=Path, default=MODELS, help="where generated models are kept")
    parser.add_argument(
        "--seen", action="store_true", help="only the half that may be looked at; not written"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many models are looked at at once")
    args = parser.parse_args()
    if not can_trace():
        parser.error("peaks are measured on Linux, on x86-64 and 64-bit Arm")
    chosen = [(path, shapes) for path, shapes in files(args.models, args.quick)]
    chosen = [item for item in chosen if not args.seen or not is_held_out(item[0].stem)]
    asked = [
        (path, shape, accelerator)
        for path, shapes in chosen
        for accelerator in RESOLVERS
        for shape in ((), *shapes)
    ]
    # What a process holds at most is read when it is stopped: others beside it make no difference.
    with ThreadPoolExecutor(args.jobs) as pool:
        found = list(pool.map(compare, *zip(*asked, strict=True)))
        rows = [row for row in found if row is not None]
        runs = {(row.model, row.accelerator) for row in rows}
        pairs = [(path, name) for path, _ in chosen for name in RESOLVERS if (path.stem, name) in runs]
        granted = [item for items in pool.map(grant, *zip(*pairs, strict=True)) for item in items]
    exact = (0, 0) if args.quick or args.seen else builtin_exact()
    for accelerator in RESOLVERS:
        for half, held_out in (("held out", True), ("seen", False)):
            print_rows(
                f"{accelerator}, {half}",
                (row for row in rows if row.accelerator == accelerator and row.held_out == held_out),
            )
    print(*(item for item in granted if item["end"] != "ran"), sep="\n")
    checked = claims(rows, granted, exact)
    print(*checked, sep="\n")
    if args.quick or args.seen:
        return 0
    write(rows, granted, exact, checked)
    return 0 if all(claim.holds for claim in checked) else 1


def write(
    rows: Sequence[Row], granted: Sequence[dict[str, Any]], exact: tuple[int, int], checked: Sequence[Claim]
) -> None:
    """The results, and from their held-out half what a plan may say of itself."""
    listed = [asdict(row) | {"error": round(row.error, 4)} for row in rows]
    body = {
        "instruction_set": this_machine(),
        "builtin": {"allocated": exact[1], "byte_exact": exact[0]},
        "rows": listed,
        "granted": [item for item in granted if item["end"] != "ran"],
        "granted_runs": len(granted),
    }
    print(f"written to {write_results('plan_accuracy', PACKAGES, list(checked), body)}")
    said = {
        name: tally([row for row in listed if row["held_out"] and row["accelerator"] == name])
        for name in RESOLVERS
    }
    ACCURACY.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
