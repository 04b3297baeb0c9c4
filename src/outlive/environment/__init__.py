"""WHAT DOES THIS MACHINE OFFER?

What is installed, what limits hold, and whether a worker starts, a model runs and memory is measured here.
"""

PUBLIC_MODULES = ("capabilities", "machine_report", "surroundings")
