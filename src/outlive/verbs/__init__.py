"""WHAT CAN BE ASKED?

The public functions, one module each: a verb gathers facts, asks the rules and returns a result. The command
line, notebooks and the pytest plugin call these and nothing below.

Importing this package hands workers the judge that turns what they saw into findings, and models the error
for a file that has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlive.model.file_bytes import set_refusal
from outlive.verbs.affine import dequantize_output, quantize_input
from outlive.verbs.check import check
from outlive.verbs.compare import compare
from outlive.verbs.convert import convert
from outlive.verbs.cut import cut
from outlive.verbs.delegates import probe
from outlive.verbs.devices import devices
from outlive.verbs.diagnose import diagnose
from outlive.verbs.explain import explain
from outlive.verbs.export import export
from outlive.verbs.fit import fit
from outlive.verbs.leak import leak
from outlive.verbs.plan import plan
from outlive.verbs.quantize import quantize
from outlive.verbs.read import changed_file as _changed_file
from outlive.verbs.read import read
from outlive.verbs.report import report
from outlive.verbs.run import run
from outlive.verbs.scan import scan
from outlive.verbs.snippet import snippet
from outlive.verbs.watch import watch
from outlive.worker.flight import set_run_judge
from outlive.worker.verdicts import set_judge

if TYPE_CHECKING:
    from outlive.finding import Finding
    from outlive.worker.flight import Flight

__all__ = [
    "check",
    "compare",
    "convert",
    "cut",
    "dequantize_output",
    "devices",
    "diagnose",
    "explain",
    "export",
    "fit",
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


def _judge(kind: str, fact: Any, source: str | bytes | None) -> tuple[Finding, str, Any]:
    from outlive.rendering.verdict import judge_fact

    return judge_fact(kind, fact, source)


def _judge_run(flight: Flight) -> tuple[Finding, ...]:
    from outlive.rendering.verdict import judge_run

    return judge_run(flight)


set_judge(_judge)
set_run_judge(_judge_run)
set_refusal(_changed_file)
