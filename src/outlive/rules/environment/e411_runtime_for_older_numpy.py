"""Installed runtime needs an older numpy

What it checks
    The installed versions of tflite-runtime and TensorFlow support the installed numpy. The rule
    imports none of them.

Why it matters
    The import fails: tflite-runtime, and TensorFlow before 2.18, were built for numpy 1. LiteRT is not
    affected.

What to do
    Install that runtime in a separate environment with numpy 1.

Limits
    The rule uses the versions in the package metadata.
"""

from outlive.environment.surroundings import Surroundings, as_version
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule

# The first version that was built for numpy 2; none for a line that has ended. TensorFlow: release notes of
# 2.18.0. tflite-runtime ended with 2.14.0, before numpy 2 came out.
_FIRST_FOR_NUMPY_2 = {"tflite_runtime": None, "tensorflow": (2, 18)}
_TITLES = {"tflite_runtime": "tflite-runtime", "tensorflow": "TensorFlow"}


@rule("E411", "runtime-for-older-numpy", Severity.WARNING, since="0.1", cause="missing-runtime")
def runtime_for_older_numpy(surroundings: Surroundings) -> Sightings:
    numpy = surroundings.packages.get("numpy", "")
    if as_version(numpy)[:1] < (2,):
        return
    for name, first in _FIRST_FOR_NUMPY_2.items():
        version = surroundings.packages.get(name, "")
        if version and (first is None or as_version(version)[:2] < first):
            yield _sight(name, version, numpy)


def _sight(name: str, version: str, numpy: str) -> Sighting:
    title, package = _TITLES[name], name.replace("_", "-")
    return Sighting(
        where=f"{title} {version}",
        evidence=(
            Evidence(f"{title} {version} needs numpy 1, numpy {numpy} is installed", "installed packages"),
            Evidence(f"numpy {numpy} is installed", "installed packages"),
        ),
        why="modules compiled for numpy 1 do not load with numpy 2",
        remedies=(
            Remedy(
                "create an environment with numpy 1 for this runtime",
                Tag.SAME_RESULTS,
                command=f"python3 -m venv old && old/bin/pip install 'numpy<2' {package}=={version}"
                f" && outlive run FILE --runtime {name} --python old/bin/python",
            ),
        ),
        fault=Fault.MACHINE,
    )
