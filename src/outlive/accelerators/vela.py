"""Arm's Ethos-U: what Vela, the compiler that its maker gives away, puts on the NPU and what it leaves.

    model ── vela (a program of its own, with a limit on time and memory) ──> the compiled model
          ── operators that are still there stay on the CPU; each `ethos-u` operator is a partition

Nothing is run: there is no such NPU in a machine that compiles. Words are those of ethos-u-vela 5.2.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from outlive.accelerators.coverage import OpRefusal, TakenOps
from outlive.model import Model, Subgraph, read_source

INSTALL = "pip install ethos-u-vela"
CONFIGURATION = "ethos-u55-128"
_PARTITION = "ethos-u"
_NOT_RUN = f"compiled for {CONFIGURATION} and not run: this machine has no such NPU"
_SILENT = "left on the CPU; no reason given"
# What may be left of the memory limit is the compiler's own business: RLIMIT_DATA as for workers.
_START = """\
import resource, sys
limit = int(sys.argv.pop(1))
if limit:
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
from ethosu.vela.vela import main
sys.exit(main())
"""
_WARNING = re.compile(
    r"Warning \(supported operators\) operator: (?P<type>\S+), ofm: '(?P<name>[^']*)'\n"
    r"Reason: (?P<reason>[^\n]*)\n(?P<more>[^\n]*)"
)
_ERROR = re.compile(r"^\w*Error: (?P<words>.*)$", re.MULTILINE)
_MOST_WORDS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class VelaResult:
    """What Vela made of a model; `error` says why it made nothing."""

    words: str
    model: Model | None
    error: str = ""


def is_installed() -> bool:
    """True if Vela is in this Python's environment, or on the path."""
    return importlib.util.find_spec("ethosu") is not None or shutil.which("vela") is not None


def compile_model(source: str | bytes, seconds: float | None, memory_bytes: int | None) -> VelaResult:
    """Compile a model with Vela; nothing is raised for what it does with it."""
    with tempfile.TemporaryDirectory(prefix="outlive-vela-") as folder:
        path = Path(folder) / "model.tflite"
        path.write_bytes(source if isinstance(source, bytes) else Path(source).read_bytes())
        command = [*_program(memory_bytes), str(path), "--output-dir", folder]
        command += ["--accelerator-config", CONFIGURATION]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
                cwd=folder,
            )
        except subprocess.TimeoutExpired:
            return VelaResult(words="", model=None, error=f"ended after {seconds:g} s")
        made = Path(folder) / "model_vela.tflite"
        words = done.stdout + done.stderr
        if done.returncode or not made.exists():
            return VelaResult(words=words, model=None, error=_complaint(words, done.returncode))
        return VelaResult(words=words, model=read_source(made.read_bytes()).model)


def see_vela(model: Model, compiled: VelaResult) -> TakenOps:
    """What Vela put on the NPU, and why not the rest."""
    if compiled.model is None or not compiled.model.subgraphs:
        return TakenOps(error=compiled.error)
    left = Counter(_marks(compiled.model.subgraphs[0]))
    find_reason = _reasons(compiled.words)
    subgraph = model.subgraphs[0]
    refused = []
    for operator, mark in zip(subgraph.operators, _marks(subgraph), strict=True):
        if left[mark] > 0:
            left[mark] -= 1
            reason = find_reason(operator.name, mark[1][0] if mark[1] else "")
            refused.append(
                OpRefusal(op=operator.index, type=operator.name, reason=reason, source="ethos-u-vela")
            )
    stay = {refusal.op for refusal in refused}
    taken = tuple(operator.index for operator in subgraph.operators if operator.index not in stay)
    parts = [one for one in compiled.model.subgraphs[0].operators if one.custom_name == _PARTITION]
    return TakenOps(
        ops_taken=len(taken),
        taken=taken,
        partitions=len(parts),
        refused=tuple(refused),
        notes=(_NOT_RUN,),
    )


def _reasons(words: str) -> Callable[[str, str], str]:
    """Why operators are left: by the tensor they make, or by a type that is left for one reason only."""
    by_name: dict[tuple[str, str], str] = {}
    by_type: dict[str, set[str]] = {}
    for row in _WARNING.finditer(words):
        reason = f"{row['reason'].strip()} {row['more'].strip()}".strip()
        by_name[row["type"], row["name"]] = reason
        by_type.setdefault(row["type"], set()).add(reason)

    def find(kind: str, name: str) -> str:
        of_kind = by_type.get(kind, set())
        return by_name.get((kind, name)) or (next(iter(of_kind)) if len(of_kind) == 1 else _SILENT)

    return find


def _program(memory_bytes: int | None) -> list[str]:
    if importlib.util.find_spec("ethosu") is not None:
        return [sys.executable, "-c", _START, str(memory_bytes or 0)]
    return [shutil.which("vela") or "vela"]


def _marks(subgraph: Subgraph) -> list[tuple[str, tuple[str, ...]]]:
    """What an operator is known by in both models: its name, and the tensors it makes, or else reads."""
    return [
        (operator.name, _names(subgraph, operator.outputs) or _names(subgraph, operator.inputs))
        for operator in subgraph.operators
    ]


def _names(subgraph: Subgraph, indices: Sequence[int]) -> tuple[str, ...]:
    return tuple(subgraph.tensors[index].name for index in indices if 0 <= index < len(subgraph.tensors))


def _complaint(words: str, code: int) -> str:
    found = [match["words"] for match in _ERROR.finditer(words)]
    return " ".join(found[-1].split())[:_MOST_WORDS] if found else f"it ended with exit code {code}"
