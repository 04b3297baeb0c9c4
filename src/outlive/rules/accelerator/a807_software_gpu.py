"""The GPU is emulated in software

What it checks
    The adapter of the GPU accelerator is not a software renderer (SwiftShader, llvmpipe).

Why it matters
    Operator coverage and success hold for the accelerator. Time and memory are not those of a GPU.

What to do
    Rely on the operator coverage, not on the speed. outlive uses a software GPU only if you name it.

Limits
    The rule trusts the adapter's own description.
"""

from outlive.accelerators import Coverage
from outlive.rules.accelerator.coverage_wording import place
from outlive.rules.api import Evidence, Fault, Severity, Sighting, Sightings, rule


@rule("A807", "software-gpu", Severity.NOTE, since="0.1")
def software_gpu(coverage: Coverage) -> Sightings:
    for one in coverage.accelerators:
        if one.is_software and one.runs and one.name.startswith("gpu"):
            yield Sighting(
                where=place(coverage, one),
                evidence=(Evidence(f"runs on {one.device}", "its own report"),),
                why="time and memory are not those of a real GPU",
                fault=Fault.MACHINE,
            )
