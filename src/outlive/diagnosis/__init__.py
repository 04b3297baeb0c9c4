"""WHY DID IT DIE?

::

    model ──► trying ──────► investigating ──► verdict ──► Diagnosis
              one flight     as it is, then      pure: flights and
              per trial      experiments,        findings in, cause out
                             bisecting

    Diagnosis ──► reducing, shrinking ──► reproducing      a log, a core ──► autopsy ──► Autopsy
                  smallest                repro.py                           messages.json, frames

    a flight, an exception ──► caught ──► Diagnosis        what the drop-in raises ──► explaining: its cause

Nouns: *conditions* are how a model is flown; a *trial* is one flight under its conditions; a *diagnosis*
is the cause, where it struck, and which conditions do work; a *message* is a line that a runtime or a system
is known to print, with what it means.
"""

from outlive.diagnosis.nouns import Conditions, Diagnosis, Reproducer, Trial

__all__ = ["Conditions", "Diagnosis", "Reproducer", "Trial"]
