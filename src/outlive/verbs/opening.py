"""What verbs share: a model with nothing wrong in its file, and its bytes."""

from __future__ import annotations

from typing import Any

from outlive.model import Model, Source, read_source
from outlive.verbs.judging import refusal
from outlive.verbs.read import read


def sound(source: Source | Model) -> Model:
    """The model, with nothing wrong in its file; one that was read with `tolerant` is looked at again."""
    model = read(source)
    if model.flaws:
        from outlive.rules import file_errors

        errors = file_errors(read_source(model))
        if errors:
            raise refusal(errors)
    return model


def content_of(source: Any) -> bytes:
    """The bytes of a model, or of what was given in its place."""
    return bytes(source.content if isinstance(source, Model) else source)
