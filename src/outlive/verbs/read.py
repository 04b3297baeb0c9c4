"""`read`: what is in a file, without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outlive.errors import ModelError
from outlive.model import Identity, Model, Reading, Source, read_source
from outlive.model.file_bytes import FileChanged

if TYPE_CHECKING:
    from outlive.finding import Finding


def read(source: Source | Model, *, tolerant: bool = False) -> Model:
    """The model in a path, bytes or binary file, read without running it; weights stay in the file.

    A file that lies about itself raises `ModelError`, whose `.finding` says what is wrong and where. With
    `tolerant=True` as much as can be read comes back, and `check(model)` lists what is wrong with it; only
    a file that is no model at all still raises. Weights are read when they are asked for (`tensor.data`):
    `ModelError` then, if the file has changed meanwhile; give its bytes if it may.
    """
    if isinstance(source, Model):
        return source
    reading = read_source(source)
    if reading.model is None or (reading.flaws and not tolerant):
        from outlive.rules.catalogue import file_errors

        errors = file_errors(reading)
        if errors:
            raise refusal(errors)
    assert reading.model is not None, "a file without a model has at least one error"
    return reading.model


def changed_file(change: FileChanged) -> ModelError:
    """The error for a file that is no longer what was read, where its weights are asked for later."""
    from outlive.rules.catalogue import file_errors

    identity = Identity(kind="changed", detail=change.detail)
    return refusal(file_errors(Reading(path=change.path, file_bytes=0, identity=identity, model=None)))


def refusal(errors: tuple[Finding, ...]) -> ModelError:
    """The error for a file that cannot be used, with all findings that say why."""
    from outlive.rendering.finding_text import plain_finding

    return ModelError(errors[0], plain_finding(errors[0]), errors[1:])
