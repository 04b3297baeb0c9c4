"""`read`: what is in a file, without running it.

Inputs in a user's own words: `image=photo.png`, `batch.npz`, `zeros`; arrays are taken as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from outlive.model import Model, Reading, Source, read_source
from outlive.units import Step
from outlive.verbs.judging import JUDGE, refusal

if TYPE_CHECKING:
    from outlive.finding import Finding
    from outlive.rules import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """One file that was read: what is in it, and what the rules say of it."""

    reading: Reading
    judgement: Judgement
    sparsity: Any = None

    @property
    def path(self) -> str:
        """The file, or that it was given as bytes."""
        return self.reading.path or "model given as bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    """What is in some files; `shown` are the lists that were asked for: ops, tensors, graph, sparsity."""

    files: tuple[ReadFile, ...]
    shown: tuple[str, ...] = ()
    tolerant: bool = False

    kind: ClassVar[str] = "read"

    @property
    def as_document(self) -> Any:
        """One file as it is, several as a list."""
        from outlive.planning.file_read import FileRead, FilesRead

        files = [
            FileRead(reading=file.reading, judgement=file.judgement, sparsity=file.sparsity)
            for file in self.files
        ]
        return files[0] if len(files) == 1 else FilesRead(files=tuple(files))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings."""
        return tuple(finding for file in self.files for finding in file.judgement.findings)


def read_files(
    paths: Sequence[str | os.PathLike[str]],
    *,
    shown: Sequence[str] = (),
    tolerant: bool = False,
    sparsity: bool = False,
    measure: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> ReadFiles:
    """What `outlive read` shows: each file read and assessed, broken ones too.

    `sparsity` counts zeros among the weights and plans what they are worth; `measure` runs it in a worker.
    """
    from outlive.planning.file_read import measure_sparsity
    from outlive.rules import assess

    if measure and not sparsity:
        raise ValueError("--measure is for --sparsity; `outlive plan --measure` runs a model")
    files = []
    for number, path in enumerate(paths):
        tell(Step(os.fspath(path), number, len(paths)))
        reading = reading_of(path)
        judgement = assess(reading)
        model = None if judgement.errors else reading.model
        zeros = measure_sparsity(model, measure, tell) if sparsity and model is not None else None
        files.append(ReadFile(reading=reading, judgement=judgement, sparsity=zeros))
    lists = (*shown, *(["sparsity"] if sparsity else []))
    return ReadFiles(files=tuple(files), shown=lists, tolerant=tolerant)


def read(source: Source | Model, *, tolerant: bool = False) -> Model:
    """Read a model from a path, bytes or a binary file, without running it; weights stay in the file.

    Raises `ModelError` for a broken file; its `.finding` says what is wrong, and where. With `tolerant=True`
    you get what can be read, and `check(model)` lists what is wrong; only a file that is not a model
    still raises. Weights are read when you ask for them (`tensor.data`), which raises `ModelError` if the
    file has changed since; give its bytes if it may.

    >>> outlive.read("healthy.tflite")
    Model(healthy.tflite: 43.6 KiB, 16 operators, image float32 -> probabilities float32)
    """
    if isinstance(source, Model):
        return source
    reading = reading_of(source)
    if reading.model is None or (reading.flaws and not tolerant):
        from outlive.rules import file_errors

        errors = file_errors(reading)
        if errors:
            raise refusal(errors)
    assert reading.model is not None, "a file without a model has at least one error"
    return reading.model


def reading_of(source: Source | Model) -> Reading:
    """What came of opening a file. Bad bytes never raise; `ModelError` where it has changed later on."""
    return read_source(source, JUDGE.changed_file)


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


_FILLINGS = ("zeros", "ones", "random")
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")


def parse_inputs(given: Any) -> Any:
    """What a verb takes: a word for all inputs, a mapping of names to arrays and words, or a list in order.

    ValueError for words that name no input or no file of arrays.
    """
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, (list, tuple)) or not words or not all(isinstance(word, str) for word in words):
        return given
    if len(words) > 1 and set(words) <= set(_FILLINGS):
        return list(words)
    named: dict[str, Any] = {}
    for word in words:
        name, found, value = word.rpartition("=")
        loaded = _load(value)
        if found:
            named[name] = loaded
        elif isinstance(loaded, dict):
            named.update(loaded)
        elif len(words) == 1:
            return loaded if isinstance(loaded, str) else [loaded]
        else:
            raise ValueError(f"say which input {word!r} is for: NAME={word}")
    return named


def _load(value: str) -> Any:
    if value in _FILLINGS:
        return value
    suffix = Path(value).suffix.lower()
    if suffix in _IMAGES:
        return _load_image(value)
    if suffix not in (".npy", ".npz"):
        raise ValueError(f"{value!r} is no input: give a .npy, .npz or image file, zeros, ones or random")
    import zipfile

    import numpy as np

    try:
        with open(value, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            return dict(loaded) if suffix == ".npz" else loaded
    except (EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"cannot read arrays from {value}: {error}") from error


def _load_image(path: str) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("reading images needs Pillow: pip install pillow") from None
    import numpy as np

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))[np.newaxis]
