"""The guarded worker: a fresh Python that runs the functions of its caller."""
