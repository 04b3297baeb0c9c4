"""Writes repro.py: a death as a script that needs only the runtime and numpy, for a bug report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from outlive.atomic_files import whole_file, write_whole
from outlive.diagnosis.diagnosis_record import Diagnosis, Trial
from outlive.diagnosis.input_probes import by_tensor, feedable, usual
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.model import read_source

_SCRIPT = '''\
"""{headline}

Ends with: {ending}
Cause: {cause}
Runtime: {runtime}

python {script}
"""
import faulthandler
import os
import sys

{perturb}import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

faulthandler.enable()
here = os.path.dirname(os.path.abspath(__file__))
{given}

def stage(name):
    print("stage", name, flush=True)


stage("load")
interpreter = Interpreter(
    model_path=os.path.join(here, {model!r}),
    experimental_op_resolver_type=OpResolverType.{resolver},
    num_threads={threads},
)
stage("allocate")
for number, row in enumerate(interpreter.get_input_details()):
    if str(number) in given and given[str(number)].shape != tuple(row["shape"]):
        interpreter.resize_tensor_input(row["index"], given[str(number)].shape)
interpreter.allocate_tensors()
stage("set")
for number, row in enumerate(interpreter.get_input_details()):
    value = given.get(str(number), np.zeros(row["shape"], row["dtype"]))
    if row["dtype"] in (np.bytes_, np.object_):
        value = value.astype(object)
    interpreter.set_tensor(row["index"], value)
stage("invoke")
interpreter.invoke()
stage("get")
for row in interpreter.get_output_details():
    interpreter.get_tensor(row["index"])
stage("done")
'''
_PERTURB = """\
if os.environ.get("MALLOC_PERTURB_") != "165":  # what reads too far no longer finds zeros by luck
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "MALLOC_PERTURB_": "165"})
"""


def write_script(model_path: Path, data: bytes, end: Trial, inputs: Any, diagnosis: Diagnosis) -> Path:
    """Write `repro.py` beside the model, and the inputs it needs; gives the script's path."""
    script = model_path.with_name("repro.py")
    arrays = _arrays(data, inputs)
    given = "given = {}\n"
    if arrays:
        saved = model_path.with_name(f"{model_path.stem}_inputs.npz")
        with whole_file(saved) as file:
            np.savez(file, **arrays)
        given = f"given = dict(np.load(os.path.join(here, {saved.name!r})))\n"
    text = _SCRIPT.format(
        headline=_plain(diagnosis.verdict.headline if diagnosis.verdict else "a model that dies"),
        ending=_plain(end.ending),
        cause=diagnosis.cause,
        runtime=_plain(str(end.flight.runtime.get("version", "ai-edge-litert"))),
        script=script.name,
        perturb=_PERTURB if end.conditions.environment else "",
        given=given,
        model=model_path.name,
        resolver=ACCELERATORS[end.conditions.accelerator].name,
        threads=end.conditions.threads,
    )
    write_whole(script, text)
    return script


def _arrays(data: bytes, inputs: Any) -> dict[str, Any]:
    """The inputs by their place in the model's list, as numpy can save them without pickling."""
    model = read_source(data).model
    if model is None or not feedable(model):
        return {}
    values = usual(model, inputs if inputs is None or isinstance(inputs, str) else None)
    if inputs is not None and not isinstance(inputs, str):
        given = by_tensor(model, inputs)
        values |= {index: np.asarray(value) for index, value in given.items() if not isinstance(value, str)}
    found = {}
    for number, tensor in enumerate(model.inputs):
        array = values[tensor.index]
        found[str(number)] = array.astype("S") if array.dtype.kind == "O" else array
    return found


def _plain(text: str) -> str:
    """Words that cannot leave the script's docstring, whatever a model's names hold."""
    return "".join(char if char.isprintable() else "?" for char in text).replace("\\", "/").replace('"', "'")
