"""TensorFlow needs AVX, which this processor lacks

What it checks
    If TensorFlow is installed on 64-bit x86, the processor supports AVX.

Why it matters
    TensorFlow's packages use AVX instructions: without AVX, the import ends the process with SIGILL,
    "Illegal instruction". Virtual machines often hide AVX.

What to do
    Configure the virtual machine to pass the processor through, or use LiteRT, which selects
    instructions at run time.

Limits
    Your own build of TensorFlow may not need AVX.
"""

from outlive.environment.surroundings import Surroundings
from outlive.meter import FACT_SOURCES
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
            Evidence("no avx among the processor's flags", FACT_SOURCES["cpu_flags"]),
            Evidence(f"TensorFlow {version} is installed", "installed packages"),
        ),
        why="TensorFlow's packages need AVX (tensorflow.org/install/pip)",
        remedies=(
            Remedy(
                "run .tflite models with LiteRT",
                Tag.SAME_RESULTS,
                command="outlive run FILE --runtime litert",
            ),
            Remedy(
                "in a virtual machine, pass the host processor through",
                Tag.SAME_RESULTS,
                command="qemu-system-x86_64 -cpu host ...",
            ),
        ),
        fault=Fault.MACHINE,
    )
