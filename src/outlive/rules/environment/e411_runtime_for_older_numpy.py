"""an installed runtime was built for an older numpy than the one beside it

What it checks
    The versions of tflite-runtime and TensorFlow beside that of numpy, without importing any of them.

Why it matters
    They fail when they are imported: tflite-runtime was last built for numpy 1, and TensorFlow before 2.18
    was too. It hurts only who uses that runtime: LiteRT is not affected.

What to do
    Give that runtime an environment of its own, with numpy 1.

Limits
    Versions are those that the packages say they have.
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
            Evidence(f"{title} {version} was built for numpy 1", "installed packages"),
            Evidence(f"numpy {numpy} is installed", "installed packages"),
        ),
        why="a compiled module of numpy 1 cannot be loaded beside numpy 2",
        remedies=(
            Remedy(
                "give it an environment of its own, and let workers run there",
                Tag.SAME_RESULTS,
                command=f"python3 -m venv old && old/bin/pip install 'numpy<2' {package}=={version}"
                f" && outlive run FILE --runtime {name} --python old/bin/python",
            ),
        ),
        fault=Fault.MACHINE,
    )
