"""TensorFlow is installed and the processor has no AVX

What it checks
    What the processor says it can do, if TensorFlow is installed on 64-bit x86.

Why it matters
    TensorFlow's packages are built with AVX instructions: where there are none, importing it ends the process
    with SIGILL, "Illegal instruction", and not a word more. Virtual machines hide AVX without need.

What to do
    Let the virtual machine pass the processor through, or use LiteRT, which chooses its instructions at run
    time.

Limits
    A TensorFlow of your own build may do without.
"""

from outlive.environment.surroundings import Surroundings
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("E413", "cpu-without-avx", Severity.WARNING, since="0.1", cause="missing-runtime")
def cpu_without_avx(surroundings: Surroundings) -> Sightings:
    version, flags = surroundings.packages.get("tensorflow"), surroundings.cpu_flags
    on_x86 = surroundings.architecture in ("x86_64", "AMD64")
    if version is None or not on_x86 or not flags or "avx" in flags:
        return
    yield Sighting(
        where=f"TensorFlow {version}",
        evidence=(
            Evidence("the processor's flags do not name avx", "/proc/cpuinfo"),
            Evidence(f"TensorFlow {version} is installed", "installed packages"),
        ),
        why="TensorFlow's packages use AVX without asking (tensorflow.org/install/pip)",
        remedies=(
            Remedy(
                "run .tflite models with LiteRT",
                Tag.SAME_RESULTS,
                command="outlive run FILE --runtime litert",
            ),
            Remedy(
                "in a virtual machine, pass the processor through",
                Tag.SAME_RESULTS,
                command="qemu-system-x86_64 -cpu host ...",
            ),
        ),
        fault=Fault.MACHINE,
    )
