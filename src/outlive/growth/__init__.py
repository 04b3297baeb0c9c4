"""DOES IT GROW?

A function or a model, repeated in a worker: how much memory each round adds, what holds it, and until when.

    measurement ── rounds in a worker ── stage_verdict ── trend ──> Growth
"""

PUBLIC_MODULES = ("growth", "measurement", "stage_verdict", "trend")
