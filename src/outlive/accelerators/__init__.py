"""WHAT WILL EACH ACCELERATOR TAKE?

    model ── ways (which accelerators, how each is asked for) ── one worker each: load, allocate, run, time
          ── taking (the runtime's own nodes) ┐
          ── gpu_report (its own words)       ├─> which operators it took, in what partitions, why not others
          ── offering (single operators, cut) ┘
          ── comparing (against the reference kernels, on the same seeded inputs) ──> Coverage

Nothing is believed that was not tried: an accelerator that is not here is said to be not here. Nouns:
`Coverage` (all accelerators of one model), `Accelerator` (what one took and did), `Refusal`, `Crossing`,
`Documented` (what a document says of one that is not here).
"""

from outlive.accelerators.nouns import Accelerator, Coverage, Crossing, Documented, Refusal

__all__ = ["Accelerator", "Coverage", "Crossing", "Documented", "Refusal"]
