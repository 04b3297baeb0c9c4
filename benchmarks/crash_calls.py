"""Crash cases that are calls and not only models, met as a user meets them.

    the repro uses Interpreter ──► the import exchanged for outlive's ──► outlive.diagnose(what it raises)
    it uses something else     ──► run as it is; it dies or prints ──► outlive autopsy of its core or text
    it ends without a word     ──► outlive.diagnose(model, the values that the repro gives)

Each runs in a copy of its folder and under a limit of memory, as those who collected them ran them.
"""

from __future__ import annotations

import json
import math
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import outlive
from outlive.diagnosis.autopsy import read_remains
from outlive.model import read_source

_CORE_BYTES = 4 << 30
_DROP_IN_S, _PLAIN_S = 90, 10
_IMPORT = re.compile(
    r"^from ai_edge_litert\.interpreter import Interpreter(, OpResolverType)?$", re.MULTILINE
)
# What the repro gives to inputs is kept as a user has it: by the index of the tensor, or in order.
_DROP_IN = """
import outlive
from outlive import OpResolverType
class Interpreter(outlive.Interpreter):
    kept = {}
    def __init__(self, *given, **named):
        super().__init__(*given, memory=LIMIT, **named)
    def set_tensor(self, index, value):
        Interpreter.kept[str(index)] = value
        np.savez("given.npz", **{k: v for k, v in Interpreter.kept.items() if v.dtype != object})
        super().set_tensor(index, value)
"""
_RECORD = """
import numpy, ai_edge_litert.tensor_buffer as _buffers
_given, _write = {}, _buffers.TensorBuffer.write
def _kept(self, data, *rest, **named):
    _given[f"{len(_given)}"] = numpy.asarray(data)
    numpy.savez("given.npz", **_given)
    return _write(self, data, *rest, **named)
_buffers.TensorBuffer.write = _kept
"""
_TELL = """
import json
told = {"end": "ran"}
try:
BODY
except BaseException as error:
    import outlive
    found = outlive.diagnose(error)
    told = {
        "end": type(error).__name__, "cause": found.cause, "stage": found.stage,
        "op": found.op and [found.op.type, found.op.index], "code": found.verdict and found.verdict.code,
    }
print("TOLD " + json.dumps(told))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a user is told of a case, by which way; `before` are the causes that a check alone names."""

    way: str
    cause: str
    stage: str
    op: tuple[str, int | None] | None = None
    before: frozenset[str] = frozenset()


def told_of(folder: Path, memory_gb: float) -> Told:
    """What outlive says about the call that a case is; `memory_gb` is the limit it was collected under."""
    with tempfile.TemporaryDirectory() as place:
        here = Path(place) / folder.name
        shutil.copytree(folder, here, copy_function=shutil.copyfile)
        source = (here / "repro.py").read_text(encoding="utf-8")
        source = source.replace("__file__", repr(str(here / "repro.py")))
        told = (
            _by_drop_in(here, source, f"{memory_gb:g}GB")
            if _IMPORT.search(source)
            else _by_remains(here, source)
        )
        return replace(told, before=told.before | _checked(here))


def _by_drop_in(here: Path, source: str, limit: str) -> Told:
    drop_in = _DROP_IN.replace("LIMIT", repr(limit))
    body = _IMPORT.sub(lambda _: drop_in, source)
    script = _TELL.replace("BODY", "\n".join(f"    {line}" for line in body.splitlines()))
    done = _run(here, script, _DROP_IN_S)
    lines = [line for line in done[1].splitlines() if line.startswith("TOLD ")]
    told: dict[str, Any] = json.loads(lines[-1][5:]) if lines else {"end": "the caller died"}
    if told["end"] in ("ran", "AssertionError", "the caller died"):
        # An AssertionError is the repro's own: nobody else has noticed anything.
        return Told(way=f"drop-in: {told['end']}", cause="", stage="")
    refused = str(told["code"]).startswith("I")  # before anything was touched
    return Told(
        way=f"drop-in: {told['end']}, {told['code']}",
        cause=told["cause"],
        stage=told["stage"],
        op=(told["op"][0], told["op"][1]) if told["op"] else None,
        before=frozenset({told["cause"]}) if refused else frozenset(),
    )


def _by_remains(here: Path, source: str) -> Told:
    code, _, errors = _run(here, _RECORD + source, _PLAIN_S)
    core = next(here.glob("core*"), None)
    if core is not None or code not in (0, None):
        data = core.read_bytes() if core is not None else errors.encode()
        found = read_remains(data, str(core) if core is not None else None)
        op = None if found.op is None else (found.op.type, found.op.index)
        return Told(way=f"autopsy of the {found.found}", cause=found.cause, stage=found.stage, op=op)
    diagnosis = outlive.diagnose(here / "model.tflite", _given(here))
    if diagnosis.verdict is None:
        return _of_silence(diagnosis)
    op = None if diagnosis.op is None else (diagnosis.op.type, diagnosis.op.index)
    return Told(way="diagnose with its values", cause=diagnosis.cause, stage=diagnosis.stage, op=op)


def _of_silence(diagnosis: outlive.Diagnosis) -> Told:
    """What is said of a run that came back: warnings on what it gave."""
    said = next(iter(diagnosis.silent), None)
    if said is None:
        return Told(way="diagnose with its values: it ran", cause="", stage="")
    op = None if said.op is None else (said.op.type, said.op.index)
    return Told(way=f"diagnose with its values: it ran, {said.code}", cause=said.cause, stage="", op=op)


def _checked(here: Path) -> frozenset[str]:
    """The causes that a check names: of the model with the values, and of a file that the repro made."""
    found: set[str] = set()
    for path in here.glob("*.tflite"):
        given = _given(here) if path.name == "model.tflite" else None
        found |= {finding.cause for finding in outlive.check(path, inputs=given)}
    return frozenset(found - {""})


def _given(here: Path) -> dict[str, Any] | None:
    """What was given to inputs, by name; a buffer takes bytes whatever their shape."""
    saved, model = here / "given.npz", read_source(here / "model.tflite").model
    if not saved.exists() or model is None:
        return None
    arrays = {int(number): array for number, array in np.load(saved).items()}
    found = {}
    for place, tensor in enumerate(model.inputs):
        array = arrays.get(tensor.index, arrays.get(place))
        if array is not None:
            fits = array.size == math.prod(tensor.shape)
            found[tensor.name] = array.reshape(tensor.shape) if fits else array
    return found or None


def _run(here: Path, script: str, seconds: float) -> tuple[int | None, str, str]:
    """Exit code (None: it did not end), output and errors of a script in its folder; cores are allowed."""
    command = [sys.executable, "-X", "faulthandler", "-c", script]
    try:
        done = subprocess.run(
            command,
            cwd=here,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            preexec_fn=_allow_core,
        )
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout, done.stderr


def _allow_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (_CORE_BYTES, _CORE_BYTES))
