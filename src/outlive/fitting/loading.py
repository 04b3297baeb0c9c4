"""Python that loads the chosen model with the settings it was measured with."""

from __future__ import annotations

from outlive.arena.budget import Budget
from outlive.fitting.nouns import Candidate, Outcome
from outlive.units import format_bytes

MODEL_NAME = "MODEL"
_PLAIN = '''"""{title}

{words}
"""

import numpy as np
from ai_edge_litert.interpreter import Interpreter{imports}

interpreter = Interpreter(
    model_path={model!r},{settings}
)
interpreter.allocate_tensors()
for row in interpreter.get_input_details():
    interpreter.set_tensor(row["index"], np.zeros(row["shape"], row["dtype"]))  # your values
interpreter.invoke()
for row in interpreter.get_output_details():
    print(row["name"], interpreter.get_tensor(row["index"]).shape)
'''
_CACHED = '''"""{title}

{words}
XNNPACK's packed weights are kept in a file beside the model, which is written by the first run.
"""

from ai_edge_litert.compiled_model import CompiledModel
from ai_edge_litert.options import CpuOptions, Options

cpu = CpuOptions(xnnpack_weight_cache_path={model!r} + ".weights"{threads})
model = CompiledModel.from_file({model!r}, options=Options(cpu_options=cpu))
inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
model.run_by_index(0, inputs, outputs)
'''
_MICRO = '''"""{title}

{words}
A microcontroller runs it with TensorFlow Lite Micro. The C array, the list of operators and the size of the
arena:

    outlive export {model} --tflm -o firmware
"""

ARENA_BYTES = {arena}
'''


def loading_snippet(chosen: Outcome, budget: Budget, model: str = MODEL_NAME) -> str:
    """The text of a Python file that loads the model under that name."""
    candidate = chosen.candidate
    words = {
        "title": f"Runs the model as it was measured: {candidate.setting}.",
        "words": _measured(chosen, budget),
        "model": model,
    }
    if candidate.accelerator == "tflm":
        return _MICRO.format(**words, arena=chosen.peak_bytes)
    if candidate.weight_cache:
        threads = "" if candidate.threads is None else f", num_threads={candidate.threads}"
        return _CACHED.format(**words, threads=threads)
    settings = "".join(f"\n    {line}," for line in _settings(candidate))
    imports = ", OpResolverType" if "OpResolverType" in settings else ""
    return _PLAIN.format(**words, settings=settings, imports=imports)


def _settings(candidate: Candidate) -> list[str]:
    lines = []
    if candidate.accelerator == "builtin":
        lines.append("experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    elif candidate.accelerator == "reference":
        lines.append("experimental_op_resolver_type=OpResolverType.BUILTIN_REF")
    if candidate.threads is not None:
        lines.append(f"num_threads={candidate.threads}")
    return lines


def _measured(chosen: Outcome, budget: Budget) -> str:
    peak = chosen.measured_peak_bytes
    if peak is None:
        return f"Planned: an arena of {chosen.peak_bytes:,} bytes, of {budget.ram_bytes:,}."
    return f"Measured: it adds {format_bytes(peak)} at most, of {format_bytes(budget.ram_bytes)}."
