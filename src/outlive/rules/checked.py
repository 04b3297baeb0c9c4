"""What a check found: in each file, and in all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from outlive.arena.plan import WORDS, Verdict
from outlive.finding import Finding, Severity
from outlive.model import Reading
from outlive.records import NOT_WRITTEN, ModelFile, in_document, written
from outlive.results import Listed, file_name
from outlive.rules.judgement import Judgement, NotChecked
from outlive.rules.rule import Rule
from outlive.units import plural

# The findings that say "does not fit": RAM, flash.
FIT_CODES = frozenset({"M201", "M203"})
# The findings that a file without its waste no longer has.
FIXABLE_CODES = frozenset({"M101", "M102", "M103", "M104"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A file, what the rules say about it, and the verdict on its memory if one was asked for."""

    kind: ClassVar[str] = "check"

    reading: Reading = field(metadata=NOT_WRITTEN)
    judgement: Judgement = field(metadata=NOT_WRITTEN)
    verdict: Verdict | None = None

    @property
    @in_document()
    def model(self) -> ModelFile:
        """The file that was checked."""
        model = self.reading.model
        sha256 = None if model is None else model.sha256
        return ModelFile(path=self.reading.path, sha256=sha256, file_bytes=self.reading.file_bytes)

    @property
    @in_document()
    def findings(self) -> tuple[Finding, ...]:
        """What the rules say about it, the worst first."""
        return self.judgement.findings

    @property
    @in_document()
    def not_checked(self) -> tuple[NotChecked, ...]:
        """The rules that could not look, and why."""
        return self.judgement.not_checked

    @property
    def only_too_big(self) -> bool:
        """True if the one thing wrong is that it does not fit."""
        codes = {finding.code for finding in self.judgement.errors}
        return bool(codes) and codes <= FIT_CODES


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedFile:
    """A file that was replaced, where the old one is, and what it no longer has."""

    path: str
    backup: str
    old_bytes: int
    new_bytes: int
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Checks(Listed[Finding]):
    """What a check of one file or of many came to: iterate for the findings, the worst of each file first.

    `rules` are those that any file was asked for, `reasons` those that a project gives for rules that it
    ignores, by the word ignored. With `strict` warnings count as errors do. `known` is how many findings a
    baseline has kept out, `fixed` are the files that were replaced.
    """

    kind: ClassVar[str] = "check"
    tables = (("findings", Finding),)
    row_names = ("code", "name")

    files: tuple[Checked, ...] = field(metadata=written(document=True))
    rules: tuple[Rule, ...] = field(default=(), metadata=NOT_WRITTEN)
    reasons: tuple[tuple[str, str], ...] = field(default=(), metadata=NOT_WRITTEN)
    strict: bool = field(default=False, metadata=NOT_WRITTEN)
    known: int = field(default=0, metadata=NOT_WRITTEN)
    fixed: tuple[FixedFile, ...] = field(default=(), metadata=NOT_WRITTEN)

    def _summary(self) -> tuple[str, str]:
        """The file, or how many, and how many findings there are."""
        one = len(self.files) == 1
        about = file_name(self.files[0].reading.path) if one else plural(len(self.files), "file")
        return about, f"{plural(len(self), 'finding')}, {plural(len(self.errors), 'error')}"

    @property
    def as_document(self) -> Checked | Checks:
        """One file is a document of its own."""
        return self.files[0] if len(self.files) == 1 else self

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings in all files."""
        return tuple(finding for file in self.files for finding in file.judgement)

    @property
    def not_checked(self) -> tuple[NotChecked, ...]:
        """The rules that could not look, in all files."""
        return tuple(item for file in self.files for item in file.judgement.not_checked)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings of severity error."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def verdict(self) -> Verdict | None:
        """The worst verdict on memory, if any was asked for."""
        verdicts = (file.verdict for file in self.files if file.verdict is not None)
        return max(verdicts, key=lambda one: WORDS.index(one.word), default=None)

    @property
    def outcome(self) -> str:
        """What it comes to: "clean", "errors", or "does not fit" if that is the one thing wrong."""
        warned = self.strict and any(finding.severity is Severity.WARNING for finding in self.findings)
        bad = [file for file in self.files if file.judgement.errors]
        if bad and not warned and all(file.only_too_big for file in bad):
            return "does not fit"
        return "errors" if bad or warned else "clean"
