"""Your kernel outlives your model.

    model = outlive.read("m.tflite")      what is in the file, without running it
    for finding in outlive.check(model):  what is wrong with it, and what it wastes
        print(finding)
    plan = outlive.plan(model)            how much memory it will need, part by part, before it runs
    flight = outlive.run(model)           what happens when it runs, in a process of its own
    outlive.diagnose(model).cause         why it dies, at which operator, and what does work
    part = outlive.cut(model, ops=5)      some of its operators, as a model of their own
    outlive.Interpreter("m.tflite")       LiteRT's Interpreter, which cannot kill your program
    print(outlive.explain("F104"))        what a finding means

Importing outlive is quick and loads no native machine-learning runtime: each name below is
fetched from its room when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlive.api import (
        check,
        cut,
        dequantize_output,
        diagnose,
        explain,
        plan,
        quantize_input,
        read,
        run,
    )
    from outlive.arena.plan import Placement, Plan
    from outlive.diagnosis.nouns import Diagnosis
    from outlive.errors import (
        InputError,
        InternalError,
        LimitReached,
        ModelDied,
        ModelError,
        OutliveError,
        RunError,
        RuntimeMissing,
    )
    from outlive.finding import Evidence, Finding, Remedy, Severity
    from outlive.model import Model, Operator, Quantization, Signature, Subgraph, Tensor
    from outlive.surgery import Cut, CutTensor
    from outlive.worker.flight import Flight
    from outlive.worker.interpreter import Interpreter, InterpreterWithCustomOps
    from outlive.worker.limits import Limits
    from outlive.worker.options import Delegate, OpResolverType, load_delegate
    from outlive.worker.signature import SignatureRunner

    __version__: str

__all__ = [
    "Cut",
    "CutTensor",
    "Delegate",
    "Diagnosis",
    "Evidence",
    "Finding",
    "Flight",
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
    "OutliveError",
    "Placement",
    "Plan",
    "Quantization",
    "Remedy",
    "RunError",
    "RuntimeMissing",
    "Severity",
    "Signature",
    "SignatureRunner",
    "Subgraph",
    "Tensor",
    "__version__",
    "check",
    "cut",
    "dequantize_output",
    "diagnose",
    "explain",
    "load_delegate",
    "plan",
    "quantize_input",
    "read",
    "run",
]

_ROOMS = {
    "outlive.api": (
        "check",
        "cut",
        "dequantize_output",
        "diagnose",
        "explain",
        "plan",
        "quantize_input",
        "read",
        "run",
    ),
    "outlive.arena.plan": ("Placement", "Plan"),
    "outlive.diagnosis.nouns": ("Diagnosis",),
    "outlive.errors": (
        "InputError",
        "InternalError",
        "LimitReached",
        "ModelDied",
        "ModelError",
        "OutliveError",
        "RunError",
        "RuntimeMissing",
    ),
    "outlive.finding": ("Evidence", "Finding", "Remedy", "Severity"),
    "outlive.model": ("Model", "Operator", "Quantization", "Signature", "Subgraph", "Tensor"),
    "outlive.surgery": ("Cut", "CutTensor"),
    "outlive.worker.flight": ("Flight",),
    "outlive.worker.interpreter": ("Interpreter", "InterpreterWithCustomOps"),
    "outlive.worker.limits": ("Limits",),
    "outlive.worker.options": ("Delegate", "OpResolverType", "load_delegate"),
    "outlive.worker.signature": ("SignatureRunner",),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """A public name, fetched from the room it lives in and kept."""
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("outlive")
    elif name in _HOME:
        from importlib import import_module

        import_module("outlive.api")  # hands workers the judge they need
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'outlive' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for tab completion."""
    return sorted({*globals(), *__all__})
