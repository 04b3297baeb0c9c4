"""WHAT WILL IT NEED HERE, AND DOES IT FIT?

Plans with a worker at hand: shapes that only the runtime knows, what a run takes, the verdict against a
budget, the ways that would fit, and parts of models with new shapes.
"""

PUBLIC_MODULES = ("file_read", "planner", "reshaping", "verdicts")
