"""the sandbox that was asked for cannot be had here

What it checks
    What the worker said of the sandbox that it was to enter before it opens the model, where `sandbox="on"`.

Why it matters
    Without it a model file that takes over the runtime can read the user's files, write to them, and talk to
    the network. Who insists on a sandbox does not want the model to be run without one.

What to do
    Use a Linux kernel with landlock (5.13 and later) and seccomp, in a container that lets both through, on
    64-bit x86 or Arm. With `sandbox="auto"` a worker has the parts that this machine offers.

Limits
    Why a container or a kernel refuses is not known beyond the error that it gives.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("E405", "sandbox-missing", Severity.ERROR, since="0.1")
def sandbox_missing(unsandboxed: str) -> Sightings:
    see = Remedy("see which parts of it this machine has", Tag.SAME_RESULTS, command="outlive doctor")
    less = Remedy(
        'or say sandbox="auto" (--sandbox auto), which uses the parts that there are', Tag.SAME_RESULTS
    )
    yield Sighting(
        where="worker",
        evidence=(Evidence(unsandboxed or "the worker entered none", "worker"),),
        why="the kernel, or the container around this program, does not give all parts of the sandbox",
        remedies=(see, less),
        fault=Fault.MACHINE,
    )
