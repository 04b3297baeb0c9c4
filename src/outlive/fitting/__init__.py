"""WHAT WOULD FIT?

Model + goal ──> search ──> candidates (rounds, cheapest for the user first)
──> candidate_builder (trim, quantize, reshape, convert again) ──> evaluation
plan ── a worker whose limit is the budget ── loss (predictor)
──> conclusions (best, Pareto front, shortage) ──> Fit ──> load_script
"""

from outlive.fitting.fit_result import Candidate, Fit, Outcome, Shortage

PUBLIC_MODULES = ("search", "load_script")

__all__ = ["Candidate", "Fit", "Outcome", "Shortage"]
