"""The sandbox is not available

What it checks
    With `sandbox="on"`, the worker entered its sandbox before it opened the model.

Why it matters
    Without a sandbox, a model file that exploits the runtime can read and write your files and use the
    network. outlive did not run the model, because you required the sandbox.

What to do
    Use a Linux kernel with landlock (5.13 or later) and seccomp, in a container that allows both, on
    64-bit x86 or Arm. With `sandbox="auto"`, a worker uses the parts that this machine supports.

Limits
    outlive knows only the error that the container or kernel returned.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("E405", "sandbox-missing", Severity.ERROR, since="0.1")
def sandbox_missing(unsandboxed: str) -> Sightings:
    see = Remedy("check which parts this machine supports", Tag.SAME_RESULTS, command="outlive doctor")
    less = Remedy(
        'use sandbox="auto" (--sandbox auto), with the parts that this machine supports', Tag.SAME_RESULTS
    )
    yield Sighting(
        where="worker",
        evidence=(Evidence(unsandboxed or "the worker did not enter a sandbox", "worker"),),
        why="the kernel or the container does not support all parts of the sandbox",
        remedies=(see, less),
        fault=Fault.MACHINE,
    )
