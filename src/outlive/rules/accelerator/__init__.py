"""A8xx: what accelerators do to a model, and how they are set up."""
