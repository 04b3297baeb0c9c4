"""WHAT WOULD FIT?

Model + goal ──> search ──> candidates (rounds, cheapest for the user first)
──> candidate_builder (trim, quantize, reshape; reconversion) ──> evaluation
plan ── limited_runs (a worker whose limit is the budget) ── loss (predictor, sample_set)
──> conclusions (best, Pareto front, shortage) ──> Fit ──> load_script
"""

from outlive.fitting.fit_result import Candidate, Fit, Outcome, Shortage

PUBLIC_MODULES = ("goal", "load_script")

__all__ = ["Candidate", "Fit", "Outcome", "Shortage"]
