"""The runtime was built for another numpy version

What it checks
    The import error does not contain the messages of numpy and Python about a module compiled for numpy
    1 with numpy 2 installed.

Why it matters
    The package is installed, and reinstalling it does not help: the last tflite-runtime was built for
    numpy 1 and cannot be loaded with numpy 2.

What to do
    Install the runtime with the numpy it was built for, in a separate environment.

Limits
    The finding quotes Python's import error.
"""

from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.environment.import_errors import PACKAGES, numpy_mismatch, sight_absence


@rule("E402", "numpy-mismatch", Severity.ERROR, since="0.1", cause="missing-runtime")
def numpy_mismatched(absence: str) -> Sightings:
    if not numpy_mismatch(absence):
        return
    runtime = "tensorflow" if "tensorflow" in absence else "tflite_runtime"
    older = Remedy(
        "create an environment with numpy 1 for this runtime",
        Tag.SAME_RESULTS,
        command=f"python3 -m venv old && old/bin/pip install 'numpy<2' {PACKAGES[runtime]}"
        f" && outlive run FILE --runtime {runtime} --python old/bin/python",
    )
    newer = Remedy(
        "run the model with LiteRT, which supports numpy 2",
        Tag.SAME_RESULTS,
        command="python -m pip install ai-edge-litert && outlive run FILE --runtime litert",
    )
    yield sight_absence(absence, "the package needs numpy 1, and numpy 2 is installed", older, newer)
