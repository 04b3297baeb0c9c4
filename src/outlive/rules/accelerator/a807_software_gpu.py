"""the GPU that ran this model is software

What it checks
    Whether the adapter that the GPU accelerator chose is the CPU in disguise (SwiftShader, llvmpipe).

Why it matters
    What it takes and whether it runs are true of the accelerator; time and memory are not those of a GPU.

What to do
    Take its word on operators, not on speed. Nothing is run on it unless you ask for it by name.

Limits
    As the adapter describes itself.
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
                why="its time and memory say nothing of a real GPU",
                fault=Fault.MACHINE,
            )
