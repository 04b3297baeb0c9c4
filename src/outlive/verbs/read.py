"""`read`: what is in a file, without running it."""

from __future__ import annotations

from outlive.model import Model, Reading, Source, read_source
from outlive.verbs.judging import JUDGE, refusal


def read(source: Source | Model, *, tolerant: bool = False) -> Model:
    """The model in a path, bytes or binary file, read without running it; weights stay in the file.

    A file that lies about itself raises `ModelError`, whose `.finding` says what is wrong and where. With
    `tolerant=True` as much as can be read comes back, and `check(model)` lists what is wrong with it; only
    a file that is no model at all still raises. Weights are read when they are asked for (`tensor.data`):
    `ModelError` then, if the file has changed meanwhile; give its bytes if it may.
    """
    if isinstance(source, Model):
        return source
    reading = reading_of(source)
    if reading.model is None or (reading.flaws and not tolerant):
        from outlive.rules.catalogue import file_errors

        errors = file_errors(reading)
        if errors:
            raise refusal(errors)
    assert reading.model is not None, "a file without a model has at least one error"
    return reading.model


def reading_of(source: Source | Model) -> Reading:
    """What came of opening a file. Bad bytes never raise; `ModelError` where it has changed later on."""
    return read_source(source, JUDGE.changed_file)
