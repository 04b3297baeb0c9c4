"""the runtime was built for another version of numpy

What it checks
    The text of the import that failed, for what numpy and Python say when a module that was compiled for
    numpy 1 meets numpy 2.

Why it matters
    The package is there, and installing it again changes nothing: the last tflite-runtime was built for
    numpy 1 and cannot be loaded beside numpy 2.

What to do
    Give the runtime the numpy it was built for, in an environment of its own.

Limits
    The import error is quoted as Python gave it.
"""

from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.environment.import_errors import PACKAGES, numpy_mismatch, sight_absence


@rule("E402", "numpy-mismatch", Severity.ERROR, since="0.1", cause="missing-runtime")
def numpy_mismatched(absence: str) -> Sightings:
    if not numpy_mismatch(absence):
        return
    runtime = "tensorflow" if "tensorflow" in absence else "tflite_runtime"
    older = Remedy(
        "give the runtime an environment with the older numpy, and let workers run there",
        Tag.SAME_RESULTS,
        command=f"python3 -m venv old && old/bin/pip install 'numpy<2' {PACKAGES[runtime]}"
        f" && outlive run FILE --runtime {runtime} --python old/bin/python",
    )
    newer = Remedy(
        "or run the model with LiteRT, which is built for numpy 2",
        Tag.SAME_RESULTS,
        command="python -m pip install ai-edge-litert && outlive run FILE --runtime litert",
    )
    yield sight_absence(absence, "its compiled part was made for numpy 1, and finds numpy 2", older, newer)
