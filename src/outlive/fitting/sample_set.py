"""The samples of a search: checked and written down once, read as often as candidates need them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.fitting.predictor import in_portions
from outlive.interpreter.judge import Judge
from outlive.model import Model
from outlive.quant.samples import Samples, load_arrays, random_samples

# Enough to tell candidates apart; what they cost needs samples of the user's.
_RANDOM_SAMPLES = 8


class SampleSet:
    """Samples in a folder; `digest` is theirs, `problem` says why there are none."""

    def __init__(self, given: Any, model: Model, folder: Path, judge: Judge) -> None:
        """Go through the samples once; `InputError` for one that cannot be used."""
        self._model, self._folder, self.judge = model, folder, judge
        self.is_random, self.problem, self.count = given is None, "", 0
        self._largest: dict[int, tuple[int, ...]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        try:
            source = random_samples(model, _RANDOM_SAMPLES) if given is None else given
            with Samples(source, model, judge, keep=False) as stream:
                for feed in stream:
                    self._store(feed, digest)
        except ValueError as error:
            if given is not None:
                raise
            self.problem = f"no samples were given, and random ones cannot be made: {error}"
        self.digest = digest.hexdigest() if self.count else "none"

    def __iter__(self) -> Iterator[list[NDArray[Any]]]:
        """Every sample, a value for each input in the original's order."""
        for number in range(self.count):
            yield list(load_arrays(self._path(number)))

    def largest(self, place: int) -> tuple[int, ...]:
        """The largest shape in which the samples give an input; empty if there are none."""
        return self._largest.get(place, ())

    def for_quantizer(self, model: Model | None = None) -> Samples | None:
        """The samples as the quantizer takes them; None if there are none.

        For a `model` with other shapes, in portions of its batch and in the size of its pictures.
        """
        if not self.count:
            return None
        shapes = [tensor.shape for tensor in (model or self._model).inputs]
        if model is None or shapes == [tensor.shape for tensor in self._model.inputs]:
            return Samples(lambda: iter(self), self._model, self.judge)
        pieces = lambda: (piece for feed in self for piece in in_portions(feed, shapes))  # noqa: E731
        return Samples(pieces, model, self.judge)

    def _store(self, feed: tuple[NDArray[Any], ...], digest: Any) -> None:
        for place, value in enumerate(feed):
            if value.dtype.kind == "O":
                raise ValueError("samples of text cannot be kept for a search")
            self._largest[place] = max(self._largest.get(place, ()), value.shape, key=_elements)
            digest.update(f"{value.dtype.str}{value.shape}".encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        np.savez(self._path(self.count), *feed)
        self.count += 1

    def _path(self, number: int) -> Path:
        return self._folder / f"sample-{number}.npz"


def _elements(shape: tuple[int, ...]) -> int:
    """How many values a shape holds; less than any for none at all."""
    return math.prod(shape) if shape else -1
