"""WHAT CAN BE ASKED?

The public functions, one module each: a verb gathers facts, asks the rules and returns a result. The command
line, notebooks and the pytest plugin call these and nothing below.

`judging` has the judge that they hand to workers, which turns what was seen into findings. The classes that a
program opens itself have it from here, too: `interpreter`, `compiled_model`, `tensor_buffer`, `debugger`.
"""

from __future__ import annotations

from outlive.verbs.autopsy import autopsy
from outlive.verbs.blackbox import blackbox
from outlive.verbs.check import check
from outlive.verbs.compare import compare
from outlive.verbs.convert import convert
from outlive.verbs.cut import cut
from outlive.verbs.delegates import delegates, probe
from outlive.verbs.devices import devices
from outlive.verbs.diagnose import diagnose
from outlive.verbs.doctor import doctor
from outlive.verbs.explain import explain
from outlive.verbs.export import export
from outlive.verbs.fit import fit
from outlive.verbs.guard import guard
from outlive.verbs.leak import leak
from outlive.verbs.plan import plan
from outlive.verbs.quantize import dequantize_output, quantize, quantize_input
from outlive.verbs.read import read
from outlive.verbs.report import report
from outlive.verbs.run import run
from outlive.verbs.scan import scan
from outlive.verbs.snippet import snippet
from outlive.verbs.watch import watch

PUBLIC_MODULES = (
    "blackbox", "checking", "choices", "compiled_model", "convert", "debugger", "demo", "fit", "guard",
    "guarded_process", "interpreter", "judging", "leak", "plan", "progress", "quantize", "read", "report",
    "run", "scan", "tensor_buffer",
)  # fmt: skip
__all__ = [
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
    "plan",
    "probe",
    "quantize",
    "quantize_input",
    "read",
    "report",
    "run",
    "scan",
    "snippet",
    "watch",
]
