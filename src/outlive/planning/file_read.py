"""A file that was read, and what the rules say about it: the document `read`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from outlive.finding import Finding
from outlive.model import Model, Reading
from outlive.model.file_parts import FilePart, map_bytes
from outlive.planning.sparsity import Pruning
from outlive.records import NOT_WRITTEN, ModelFile, in_document, written
from outlive.rules import Judgement, NotChecked


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
