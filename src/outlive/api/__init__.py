"""WHAT CAN BE ASKED?

The front desk: each public verb, short enough to read like a sentence.

    files     what is in a file, and what it needs     numbers   what quantization changes
    runs      what happens when it runs                fleets    what a thousand models come to

Whoever opens this door hands workers the judge that turns what they saw into findings, and models the error
for a file that has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlive.api import files
from outlive.api.files import check, cut, explain, plan, read
from outlive.api.fits import fit
from outlive.api.fleets import scan
from outlive.api.numbers import compare, convert, dequantize_output, quantize, quantize_input
from outlive.api.runs import diagnose, leak, probe, run, watch
from outlive.model.file_bytes import set_refusal
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
    "diagnose",
    "explain",
    "fit",
    "leak",
    "plan",
    "probe",
    "quantize",
    "quantize_input",
    "read",
    "run",
    "scan",
    "watch",
]


def _judge(kind: str, fact: Any, source: str | bytes | None) -> tuple[Finding, str, Any]:
    from outlive.report.verdict import judge_fact

    return judge_fact(kind, fact, source)


def _judge_run(flight: Flight) -> tuple[Finding, ...]:
    from outlive.report.verdict import judge_run

    return judge_run(flight)


set_judge(_judge)
set_run_judge(_judge_run)
set_refusal(files.changed_file)
