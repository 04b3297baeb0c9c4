"""WHAT WILL EACH ACCELERATOR TAKE?

    model ── configurations (which accelerators are here) ── trial (a worker each: load, allocate, run, time)
          ── taken_ops (the runtime's nodes), gpu_coverage (the GPU's report, single operators), vela
          ── probe (compared with the reference kernels on the same seeded inputs) ──> Coverage
          ── bisection (the smallest part of the model that makes an accelerator die or differ)

An accelerator that was not tried is reported as not tried. `Coverage` holds all accelerators of one model,
`Accelerator` what one took and did, `Documented` what a document says of one that is not here.
"""

from outlive.accelerators.coverage import Accelerator, Coverage, Crossing, Documented, OpRefusal

PUBLIC_MODULES = ("configurations", "probe")

__all__ = ["Accelerator", "Coverage", "Crossing", "Documented", "OpRefusal"]
