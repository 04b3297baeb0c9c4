"""A file that was read, and what the rules say about it: the document `read`.

What zeros in weights are worth with this runtime: in the file, compressed, and in memory, measured.

Model ──> zeros ──> its sparse twin, really written ──> both planned, or run in a worker ──> Pruning
"""

import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from outlive.arena.questions import PlanRequest
from outlive.errors import OutliveError
from outlive.finding import Finding
from outlive.interpreter.recorded_run import measure
from outlive.model import Model, Reading, read_source
from outlive.model.file_parts import FilePart, map_bytes
from outlive.model.zeros import WeightZeros, count_zeros
from outlive.planning.planner import plan_model
from outlive.records import NOT_WRITTEN, ModelFile, in_document, written
from outlive.rules import Judgement, NotChecked
from outlive.surgery import sparsify

ACCELERATORS = ("cpu", "builtin")
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageForm:
    """One way to store the model: its size, its size compressed, and the memory it takes by accelerator.

    A peak is None where it is not known; `problem` says why it could not be measured.
    """

    name: str
    file_bytes: int
    compressed_bytes: int
    planned_peak_bytes: Mapping[str, int | None] = field(hash=False)
    measured_peak_bytes: Mapping[str, int | None] | None = field(default=None, hash=False)
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """The weights with their zeros, and the forms the model can be stored in; the first is the file's own."""

    weights: tuple[WeightZeros, ...] = field(repr=False)
    forms: tuple[StorageForm, ...]

    @property
    @in_document()
    def elements(self) -> int:
        """Elements of all weights that were looked at."""
        return sum(weight.elements for weight in self.weights)

    @property
    @in_document()
    def zeros(self) -> int:
        """How many of them are zero."""
        return sum(weight.zeros for weight in self.weights)


def measure_sparsity(
    model: Model, measuring: bool = False, tell: Callable[[str], None] = lambda words: None
) -> Pruning:
    """What the zeros of a sound model are worth; `measuring` runs each form in a worker."""
    tell("counting zeros")
    weights = count_zeros(model)
    forms = [_form("as it is", model, measuring, tell)]
    sparse = sparsify(model)
    twin = read_source(sparse.data).model if sparse.data is not None else None
    if twin is not None:
        forms.append(_form("sparse weights", twin, measuring, tell))
    return Pruning(weights=weights, forms=tuple(forms))


def _form(name: str, model: Model, measuring: bool, tell: Callable[[str], None]) -> StorageForm:
    tell(f"{name}: compressing")
    compressed = _compressed_bytes(model.content)
    tell(f"{name}: planning")
    planned = {way: _planned(model, way) for way in ACCELERATORS}
    measured, problem = {}, ""
    for way in ACCELERATORS if measuring else ():
        tell(f"{name}: running with {way}")
        measured[way], said = _measured(model, way)
        problem = problem or said
    return StorageForm(
        name=name,
        file_bytes=model.file_bytes,
        compressed_bytes=compressed,
        planned_peak_bytes=planned,
        measured_peak_bytes=measured or None,
        problem=problem,
    )


def _compressed_bytes(content: memoryview) -> int:
    """The size as gzip makes it, give or take its header."""
    packer = zlib.compressobj(6)
    size = 0
    for at in range(0, content.nbytes, _CHUNK_BYTES):
        size += len(packer.compress(content[at : at + _CHUNK_BYTES]))
    return size + len(packer.flush())


def _planned(model: Model, accelerator: str) -> int | None:
    try:
        return plan_model(model, PlanRequest(accelerator=accelerator)).peak_bytes
    except ValueError:
        return None


@contextmanager
def _file_of(model: Model) -> Iterator[str]:
    """A file for the runtime to map: a copy in memory would count, and one that is mapped does not."""
    if model.path is not None and os.path.isfile(model.path):
        yield model.path
        return
    with TemporaryDirectory(prefix="outlive-prune-") as folder:
        path = os.path.join(folder, "model.tflite")
        Path(path).write_bytes(model.content)
        yield path


def _measured(model: Model, accelerator: str) -> tuple[int | None, str]:
    try:
        with _file_of(model) as path:
            seen = measure(path, accelerator=accelerator, shapes={})
    except (OutliveError, OSError, ValueError) as error:
        return None, " ".join(str(error).split())[:300]
    return (None, seen.problem) if seen.problem else (seen.peak_bytes, "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileRead:
    """Everything a file says, readable or not; `sparsity` is what its zeros are worth, if somebody asked."""

    kind: ClassVar[str] = "read"

    reading: Reading = field(metadata=NOT_WRITTEN)
    judgement: Judgement = field(metadata=NOT_WRITTEN)
    sparsity: Pruning | None = field(default=None, metadata=written(omit=True))

    @property
    @in_document(flat=True)
    def contents(self) -> Model | None:
        """The model; None if the file cannot be read."""
        return self.reading.model

    @property
    @in_document()
    def model(self) -> ModelFile:
        """The file."""
        sha256 = None if self.reading.model is None else self.reading.model.sha256
        return ModelFile(path=self.reading.path, sha256=sha256, file_bytes=self.reading.file_bytes)

    @property
    @in_document("bytes", omit=True)
    def byte_parts(self) -> tuple[FilePart, ...] | None:
        """Where the bytes of the file are, the largest part first; None if it cannot be read."""
        return None if self.reading.model is None else map_bytes(self.reading.model)

    @property
    @in_document()
    def findings(self) -> tuple[Finding, ...]:
        """What the rules say, the worst first."""
        return self.judgement.findings

    @property
    @in_document()
    def not_checked(self) -> tuple[NotChecked, ...]:
        """The rules that failed on this file."""
        return tuple(item for item in self.judgement.not_checked if "failed" in item.reason)

    @property
    @in_document()
    def flaws(self) -> int:
        """How many places of the file contradict it."""
        return self.reading.flaw_count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FilesRead:
    """Several files that were read."""

    kind: ClassVar[str] = "read"

    files: tuple[FileRead, ...] = field(metadata=written(document=True))
