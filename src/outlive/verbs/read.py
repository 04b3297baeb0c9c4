"""`read`: what is in a file, without running it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from outlive.model import Model, Reading, Source, read_source
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
    from outlive.planning.sparsity import measure_sparsity
    from outlive.rules import assess

    if measure and not sparsity:
        raise ValueError("--measure is for --sparsity; `outlive plan --measure` runs a model")
    files = []
    for path in paths:
        tell(os.fspath(path))
        reading = reading_of(path)
        judgement = assess(reading)
        model = None if judgement.errors else reading.model
        zeros = measure_sparsity(model, measure, tell) if sparsity and model is not None else None
        files.append(ReadFile(reading=reading, judgement=judgement, sparsity=zeros))
    lists = (*shown, *(["sparsity"] if sparsity else []))
    return ReadFiles(files=tuple(files), shown=lists, tolerant=tolerant)


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
