"""the installed runtime is older than the model asks for

What it checks
    The version that the model's metadata name as the oldest that can run it, against TensorFlow and
    tflite-runtime as they are installed here.

Why it matters
    An older runtime lacks an operator, or a version of it: the model is refused when tensors are allocated,
    "Didn't find op for builtin opcode".

What to do
    Install LiteRT, or a newer version of the runtime.

Limits
    The metadata count versions as TensorFlow does. LiteRT counts its own, and began after TensorFlow 2.17:
    where it is installed nothing is said here, and O123 looks at each operator.
"""

from outlive.environment.surroundings import Surroundings, as_version
from outlive.model import Model
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name

# Runtimes that count as the metadata do (LiteRT, tflite/converter/tools/versioning/runtime_version.cc).
_COUNTING = ("tensorflow", "tflite_runtime")


@rule("E421", "runtime-older-than-model", Severity.ERROR, since="0.1", cause="unsupported-op")
def runtime_older_than_model(model: Model, surroundings: Surroundings) -> Sightings:
    wanted, here = as_version(model.min_runtime_version), surroundings.packages
    known = {name: here[name] for name in _COUNTING if name in here}
    if not wanted or "litert" in here or not known:
        return
    if any(as_version(version) >= wanted for version in known.values()):
        return
    yield Sighting(
        where=file_name(model.path),
        evidence=(
            Evidence(f"it needs {model.min_runtime_version} or later", "metadata"),
            *(
                Evidence(f"{name.replace('_', '-')} is {version}", "installed packages")
                for name, version in known.items()
            ),
        ),
        why="an operator in it is newer than the runtime",
        remedies=(
            Remedy(
                "install LiteRT, which is newer than all of them",
                Tag.SAME_RESULTS,
                command="python -m pip install ai-edge-litert",
            ),
        ),
        fault=Fault.MACHINE,
    )
