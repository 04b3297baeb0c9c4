"""The runtime is older than the model requires

What it checks
    The installed TensorFlow and tflite-runtime are at least the minimum version in the model's
    metadata.

Why it matters
    An older runtime lacks an operator, or a version of it, and refuses the model in allocate_tensors():
    "Didn't find op for builtin opcode".

What to do
    Install LiteRT, or a newer version of the runtime.

Limits
    The metadata uses TensorFlow's version numbers. LiteRT has its own, and started after TensorFlow
    2.17: if LiteRT is installed, this rule is silent, and O123 checks each operator.
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
            Evidence(f"the model needs {model.min_runtime_version} or later", "metadata"),
            *(
                Evidence(f"{name.replace('_', '-')} is {version}", "installed packages")
                for name, version in known.items()
            ),
        ),
        why="an operator of the model is newer than the runtime",
        remedies=(
            Remedy(
                "install LiteRT",
                Tag.SAME_RESULTS,
                command="python -m pip install ai-edge-litert",
            ),
        ),
        fault=Fault.MACHINE,
    )
