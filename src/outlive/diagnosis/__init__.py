"""WHY DID IT DIE?

::

    model ──► trial_run ─────► investigation ──► verdict ──► Diagnosis
              one flight       as it is, then      pure: flights and
              per trial        experiments,        findings in, cause out
                               prefix_bisection

    Diagnosis ──► smallest_model, smaller_tensors ──► repro_script: repro.py

    a log, a core ──► log_text ──► deaths ──► messages, endings, stacks ──► autopsy ──► Autopsy
    a flight, an exception ──► error_diagnosis ──► Diagnosis
    what the drop-in raises ──► run_cause: its cause

Nouns: *conditions* are how a model is flown; a *trial* is one flight under its conditions; a *diagnosis*
is the cause, where it struck, and which conditions do work; a *message* is a line that a runtime or a system
is known to print, with what it means.
"""

from outlive.diagnosis.diagnosis_record import Conditions, Diagnosis, Reproducer, Trial

__all__ = ["Conditions", "Diagnosis", "Reproducer", "Trial"]
PUBLIC_MODULES = (
    "alone",
    "autopsy",
    "corefile",
    "diagnosis_case",
    "diagnosis_record",
    "error_diagnosis",
    "examination",
    "frame_hints",
    "log_model",
    "log_text",
    "run_cause",
    "smallest_model",
    "verdict",
)
