"""Cannot load the runtime

What it checks
    The worker can import its runtime.

Why it matters
    outlive cannot run models without it. Reading and checking files still works.

What to do
    Install the runtime into the environment of the worker.

Limits
    The finding quotes Python's import error. E402 to E404 explain known reasons.
"""

from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.environment.import_errors import PACKAGES, own_rule, sight_absence


@rule("E401", "runtime-missing", Severity.ERROR, since="0.1", cause="missing-runtime")
def runtime_missing(absence: str) -> Sightings:
    if own_rule(absence):
        return
    package = next((name for word, name in PACKAGES.items() if word in absence), "ai-edge-litert")
    absent = "No module named" in absence
    install = Remedy(
        "install the runtime" if absent else "reinstall the runtime",
        Tag.SAME_RESULTS,
        command=f"python -m pip install {'' if absent else '--force-reinstall '}{package}",
    )
    doctor = Remedy("list the runtimes of this machine", Tag.SAME_RESULTS, command="outlive doctor")
    why = "the package is installed in the worker's Python environment, but does not load"
    if absent:
        why = "the worker's Python environment does not have the package"
    yield sight_absence(absence, why, install, doctor)
