"""Your kernel outlives your model.

    model = outlive.read("m.tflite")      what is in the file, without running it
    for finding in outlive.check(model):  what is wrong with it, and what it wastes
        print(finding)
    plan = outlive.plan(model)            how much memory it will need, part by part, before it runs
    flight = outlive.run(model)           what happens when it runs, in a process of its own
    outlive.diagnose(model).cause         why it dies, at which operator, and what does work
    part = outlive.cut(model, ops=5)      some of its operators, as a model of their own
    small = outlive.quantize(model, "static-int8", samples)      quantized, in a worker
    outlive.compare(model, small.model, samples).worst()         the layers where error is born
    outlive.fit(model, ram="8MB", samples=samples).chosen        what would fit, and what it costs
    outlive.scan("models/", run=True)     a thousand models, one table
    print(outlive.leak(step))             whether a function or a model leaks, how much, and what
    outlive.Interpreter("m.tflite")       LiteRT's Interpreter, which cannot kill your program
    print(outlive.explain("F104"))        what a finding means

Importing outlive is quick and loads no native machine-learning runtime: each name below is
fetched from its module when it is first used.
"""

from __future__ import annotations

from outlive.version import __version__

TYPE_CHECKING = False  # type checkers take it for true, and `typing` would cost as much as Python's start

if TYPE_CHECKING:
    from outlive.accelerators import Accelerator, Coverage
    from outlive.arena.plan import Placement, Plan
    from outlive.diagnosis.diagnosis_record import Diagnosis
    from outlive.errors import (
        InputError,
        InternalError,
        LimitReached,
        ModelDied,
        ModelError,
        OutliveError,
        RunError,
        RuntimeMissing,
        SilentFailure,
        WorkerUnavailable,
    )
    from outlive.finding import Evidence, Finding, Remedy, Severity
    from outlive.fitting import Candidate, Fit, Outcome
    from outlive.fleet import Row
    from outlive.fleet.scanning import Scan
    from outlive.growth.growth import Growth
    from outlive.interpreter.interpreter_options import Delegate, OpResolverType, load_delegate
    from outlive.interpreter.signature import SignatureRunner
    from outlive.jupyter.protection import protect, unprotect
    from outlive.model import Model, Operator, Quantization, Signature, Subgraph, Tensor
    from outlive.process.flight import Flight
    from outlive.process.limits import Limits
    from outlive.quant import Drift, Quantized
    from outlive.quant.conversion import Converted
    from outlive.surgery import Cut, CutTensor
    from outlive.verbs.autopsy import autopsy
    from outlive.verbs.blackbox import blackbox
    from outlive.verbs.check import check
    from outlive.verbs.compare import compare
    from outlive.verbs.compiled_model import CompiledModel, HardwareAccelerator
    from outlive.verbs.convert import convert
    from outlive.verbs.cut import cut
    from outlive.verbs.debugger import QuantizationDebugger, QuantizationDebugOptions
    from outlive.verbs.delegates import delegates, probe
    from outlive.verbs.devices import devices
    from outlive.verbs.diagnose import diagnose
    from outlive.verbs.doctor import doctor
    from outlive.verbs.explain import explain
    from outlive.verbs.export import export
    from outlive.verbs.fit import fit
    from outlive.verbs.guard import guard
    from outlive.verbs.interpreter import Interpreter, InterpreterWithCustomOps
    from outlive.verbs.leak import leak
    from outlive.verbs.plan import plan
    from outlive.verbs.quantize import dequantize_output, quantize, quantize_input
    from outlive.verbs.read import read
    from outlive.verbs.report import report
    from outlive.verbs.run import run
    from outlive.verbs.scan import scan
    from outlive.verbs.snippet import snippet
    from outlive.verbs.tensor_buffer import TensorBuffer
    from outlive.verbs.watch import watch

__all__ = [
    "Accelerator",
    "Candidate",
    "CompiledModel",
    "Converted",
    "Coverage",
    "Cut",
    "CutTensor",
    "Delegate",
    "Diagnosis",
    "Drift",
    "Evidence",
    "Finding",
    "Fit",
    "Flight",
    "Growth",
    "HardwareAccelerator",
    "InputError",
    "InternalError",
    "Interpreter",
    "InterpreterWithCustomOps",
    "LimitReached",
    "Limits",
    "Model",
    "ModelDied",
    "ModelError",
    "OpResolverType",
    "Operator",
    "Outcome",
    "OutliveError",
    "Placement",
    "Plan",
    "Quantization",
    "QuantizationDebugOptions",
    "QuantizationDebugger",
    "Quantized",
    "Remedy",
    "Row",
    "RunError",
    "RuntimeMissing",
    "Scan",
    "Severity",
    "Signature",
    "SignatureRunner",
    "SilentFailure",
    "Subgraph",
    "Tensor",
    "TensorBuffer",
    "WorkerUnavailable",
    "__version__",
    "autopsy",
    "blackbox",
    "check",
    "compare",
    "convert",
    "cut",
    "delegates",
    "dequantize_output",
    "devices",
    "diagnose",
    "doctor",
    "explain",
    "export",
    "fit",
    "guard",
    "leak",
    "load_delegate",
    "load_ipython_extension",
    "plan",
    "probe",
    "protect",
    "quantize",
    "quantize_input",
    "read",
    "report",
    "run",
    "scan",
    "snippet",
    "unload_ipython_extension",
    "unprotect",
    "watch",
]

# Where a name comes from; those that are not named here are verbs and errors.
_ORIGINS = {
    "outlive.arena.plan": ("Placement", "Plan"),
    "outlive.accelerators": ("Accelerator", "Coverage"),
    "outlive.diagnosis.diagnosis_record": ("Diagnosis",),
    "outlive.finding": ("Evidence", "Finding", "Remedy", "Severity"),
    "outlive.fitting": ("Candidate", "Fit", "Outcome"),
    "outlive.fleet": ("Row",),
    "outlive.fleet.scanning": ("Scan",),
    "outlive.growth.growth": ("Growth",),
    "outlive.model": ("Model", "Operator", "Quantization", "Signature", "Subgraph", "Tensor"),
    "outlive.quant.conversion": ("Converted",),
    "outlive.quant": ("Drift", "Quantized"),
    "outlive.jupyter.protection": ("protect", "unprotect"),
    "outlive.surgery": ("Cut", "CutTensor"),
    "outlive.verbs.compiled_model": ("CompiledModel", "HardwareAccelerator"),
    "outlive.verbs.delegates": ("probe",),
    "outlive.verbs.quantize": ("dequantize_output", "quantize_input"),
    "outlive.verbs.debugger": ("QuantizationDebugOptions", "QuantizationDebugger"),
    "outlive.verbs.interpreter": ("Interpreter", "InterpreterWithCustomOps"),
    "outlive.verbs.tensor_buffer": ("TensorBuffer",),
    "outlive.process.flight": ("Flight",),
    "outlive.process.limits": ("Limits",),
    "outlive.interpreter.interpreter_options": ("Delegate", "OpResolverType", "load_delegate"),
    "outlive.interpreter.signature": ("SignatureRunner",),
}
_ORIGIN_OF = {name: module for module, names in _ORIGINS.items() for name in names}


def __getattr__(name: str) -> object:
    """A public name, fetched from its module when it is first used, and kept."""
    if name not in __all__:
        raise AttributeError(f"module 'outlive' has no attribute {name!r}")
    from importlib import import_module

    module = _ORIGIN_OF.get(name, f"outlive.verbs.{name}" if name.islower() else "outlive.errors")
    value: object = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for tab completion."""
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: object) -> None:
    """Load the extension (`%load_ext outlive`): cards, magics, and a black box for this kernel."""
    from importlib import import_module

    import_module("outlive.jupyter.extension").load(shell)


def unload_ipython_extension(shell: object) -> None:
    """Unload the extension (`%unload_ext outlive`)."""
    from importlib import import_module

    import_module("outlive.jupyter.extension").unload(shell)
