"""DOES IT GROW?

A function or a model, repeated in a worker: how much memory each round adds, what holds it, and until when.
"""
