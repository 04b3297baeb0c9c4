"""Python that loads the chosen model with the settings it was measured with."""

import re
import shlex
from importlib import resources
from pathlib import Path

from outlive.arena.budget import Budget
from outlive.arena.devices import DeviceError, find_device
from outlive.finding import as_argument
from outlive.fitting.fit_result import Candidate, Outcome
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.units import format_bytes

MODEL_NAME = "MODEL"
# The first line tells our file from a user's.
MARK = "# Written by outlive fit; a later search writes it again."


def loading_snippet(chosen: Outcome, budget: Budget, model: str = MODEL_NAME, beside: bool = False) -> str:
    """The text of a Python file that loads the model under that name; `beside`: from its own folder."""
    candidate = chosen.candidate
    words = {
        "mark": MARK,
        "title": f"Runs the model as it was measured: {candidate.setting}.",
        "words": _measured(chosen, budget),
        "model": f"Path(__file__).with_name({model!r})" if beside else f"Path({model!r})",
    }
    if candidate.accelerator == "tflm":
        return _micro(chosen, budget, model, words["words"])
    if candidate.weight_cache:
        threads = "" if candidate.threads is None else f", num_threads={candidate.threads}"
        return _filled("weight_cache", **words, threads=threads)
    settings = "".join(f"\n    {line}," for line in _settings(candidate))
    imports = ", OpResolverType" if "OpResolverType" in settings else ""
    return _filled("interpreter", **words, settings=settings, imports=imports)


def _filled(name: str, **words: object) -> str:
    """A script of `load_scripts/` with these words in it."""
    file = resources.files("outlive.fitting") / "load_scripts" / f"{name}.txt"
    return file.read_text("utf-8").format(**words)


def is_ours(path: Path) -> bool:
    """True if a file is one that a search wrote."""
    try:
        with path.open("rb") as file:
            return file.readline(len(MARK) + 2).strip() == MARK.encode()
    except OSError:
        return False


def stale_caches(model: Path, sha256: str) -> list[Path]:
    """Weight caches that our program wrote for what the model's file held before."""
    pattern = re.compile(re.escape(model.name) + r"\.([0-9a-f]{16})\.weights")
    try:
        there = [(path, pattern.fullmatch(path.name)) for path in model.parent.iterdir()]
    except OSError:
        return []
    return [path for path, match in there if match is not None and match[1] != sha256[:16]]


def _micro(chosen: Outcome, budget: Budget, model: str, words: str) -> str:
    device = budget.device
    arena = chosen.arena_bytes if chosen.arena_bytes is not None else chosen.peak_bytes or 0
    abi = "cortex-m" if device is None else device.abi or "cortex-m"
    kernels = "reference" if device is None else device.kernels
    options = ["--abi", abi, "--kernels", kernels]
    if device is not None and _is_known(device.name):
        options = ["--device", device.name, *options]
    if arena > budget.ram_bytes:  # it fits, but not with a margin
        options += ["--margin", "0%"]
        arena = chosen.peak_bytes or 0
    command = shlex.join(["outlive", "export", as_argument(model), *options, "-o", "firmware"])
    return _filled(
        "micro",
        mark=MARK,
        target=f"{abi} with {kernels} kernels",
        words=words,
        command=command.replace("\\", "\\\\").replace('"""', '\\"\\"\\"'),
        arena=arena,
    )


def _is_known(name: str) -> bool:
    """False for a device that only its file describes."""
    try:
        return bool(find_device(name))
    except DeviceError:
        return False


def _settings(candidate: Candidate) -> list[str]:
    lines = []
    if candidate.accelerator != "cpu":
        kernels = ACCELERATORS[candidate.accelerator].name
        lines.append(f"experimental_op_resolver_type=OpResolverType.{kernels}")
    if candidate.threads is not None:
        lines.append(f"num_threads={candidate.threads}")
    return lines


def _measured(chosen: Outcome, budget: Budget) -> str:
    peak = chosen.measured_peak_bytes
    if peak is None:
        return f"Planned: an arena of {chosen.peak_bytes:,} bytes without a margin, of {budget.ram_bytes:,}."
    return f"Measured: it adds {format_bytes(peak)} at most, of {format_bytes(budget.ram_bytes)}."
