"""the runtime that should run the model cannot be loaded

What it checks
    Whether the worker could import its runtime.

Why it matters
    Without it nothing can be run; reading and checking files work all the same.

What to do
    Install it into the environment of the worker.

Limits
    The import error is quoted as Python gave it. E402 to E404 explain the reasons that are known.
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
        "install it there" if absent else "install it there anew",
        Tag.SAME_RESULTS,
        command=f"python -m pip install {'' if absent else '--force-reinstall '}{package}",
    )
    doctor = Remedy("see which runtimes this machine has", Tag.SAME_RESULTS, command="outlive doctor")
    why = "the package is in the Python environment of the worker, and does not load"
    if absent:
        why = "the Python environment of the worker has no such package"
    yield sight_absence(absence, why, install, doctor)
