"""WHAT WOULD FIT?

    Model + Wish ──> planning ──> Plan (measured beside it, if that is asked for)
    Plan + Budget ──> verdicts ──> Verdict, findings        ways: other settings and sizes that would fit
    Model + Goal ──> searching ──> Fit         candidates built, run within the budget, and compared

Here planners (which run nothing) and workers (which know no models) meet.
"""
