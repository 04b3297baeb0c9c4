"""`outlive MODEL`: the whole check-up on one screen: read, plan, check, run, and diagnose if needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from outlive import verbs
from outlive.arena.plan import Plan
from outlive.cli import exits
from outlive.cli.output import (
    add_output_options,
    complain,
    progress,
    refuse_to_overwrite,
    write_json,
    write_text,
)
from outlive.cli.parser import Parser
from outlive.cli.present import exit_code
from outlive.diagnosis.nouns import Diagnosis
from outlive.errors import OutliveError
from outlive.finding import Finding, Severity
from outlive.fitting.file_read import FileRead
from outlive.model import Reading, Tensor
from outlive.records import NOT_WRITTEN, ModelPath, in_document, written
from outlive.rendering.media.json import document_of
from outlive.rules import Judgement
from outlive.rules.catalogue import assess
from outlive.verbs.read import reading_of
from outlive.worker.flight import Flight, RunTold
from outlive.worker.limits import Limits

if TYPE_CHECKING:
    from rich.console import RenderableType

# A check-up is asked for by somebody who waits.
_SECONDS = 30.0
_NAME = 48
_SHOWN_NOTES = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Checkup:
    """What each part of the check-up came to; None where it was not reached."""

    kind: ClassVar[str] = "checkup"

    reading: Reading = field(metadata=NOT_WRITTEN)
    judgement: Judgement = field(metadata=NOT_WRITTEN)
    plan: Plan | None = field(default=None, metadata=written(document=True))
    flight: Flight | None = field(default=None, metadata=NOT_WRITTEN)
    diagnosis: Diagnosis | None = field(default=None, metadata=written("diagnose", document=True))

    @property
    @in_document(document=True)
    def read(self) -> FileRead:
        """What the file says."""
        return FileRead(reading=self.reading, judgement=self.judgement)

    @property
    @in_document(document=True)
    def run(self) -> RunTold | None:
        """How it ran; None if it was not run."""
        if self.flight is None:
            return None
        return RunTold(model=ModelPath(path=self.reading.path), flight=self.flight, findings=self.silent)

    @property
    def silent(self) -> tuple[Finding, ...]:
        """What went wrong in a run without a word."""
        if self.flight is None or self.flight.died or self.flight.error_type:
            return ()
        return tuple(item for item in self.flight.findings if item not in self.judgement.findings)

    @property
    def code(self) -> int:
        """The exit code."""
        if self.diagnosis is not None and self.diagnosis.verdict is not None:
            return exit_code(self.diagnosis)
        return exits.FINDINGS if self.judgement.errors else exits.CLEAN


def is_checkup(words: Sequence[str]) -> bool:
    """True for one file and nothing that only `outlive read` knows."""
    options = {word.split("=")[0] for word in words[1:] if word.startswith("-")}
    values = [word for at, word in enumerate(words[1:]) if not word.startswith("-") and not _value(words, at)]
    return options <= {"--format", "--output"} and not values


def _value(words: Sequence[str], at: int) -> bool:
    return words[at] in ("--format", "--output")


def run(words: Sequence[str]) -> int:
    """Do the check-up and report."""
    parser = Parser(prog="outlive")
    parser.add_argument("file", metavar="MODEL")
    add_output_options(parser)
    args = parser.parse_args(list(words))
    refuse_to_overwrite(args.output, [args.file])
    try:
        with progress() as tell:
            found = _check_up(args.file, tell)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    if args.format == "json":
        write_json(args, document_of(found))
    else:
        write_text(args, _text(found))
    return found.code


def _check_up(path: str, say: Callable[[str], None]) -> Checkup:
    reading = reading_of(path)
    judgement = assess(reading)
    if reading.model is None:
        return Checkup(reading=reading, judgement=judgement)
    plan = None
    if not judgement.errors:
        say("planning")
        plan = verbs.plan(reading.model)
    say("running")
    flight = _flight(path)
    diagnosis = None
    if flight is None or flight.died or flight.error_type:
        diagnosis = verbs.diagnose(path, tell=say)
    return Checkup(reading=reading, judgement=judgement, plan=plan, flight=flight, diagnosis=diagnosis)


def _flight(path: str) -> Flight | None:
    """The run; None if even the call was refused, which a diagnosis then explains."""
    try:
        return verbs.run(path, limits=Limits(seconds=_SECONDS))
    except (OutliveError, ValueError, TypeError, IndexError, KeyError, RuntimeError, MemoryError):
        return None


def _text(found: Checkup) -> Iterator[RenderableType]:
    from outlive.rendering import page_of
    from outlive.rendering.media.text import draw_text

    yield from _opening(found.reading)
    yield from _need(found.plan)
    yield from _findings(found.judgement)
    yield from _run(found.flight)
    yield from _told(found.silent)
    if found.diagnosis is not None:
        yield from draw_text(page_of(found.diagnosis))


def _opening(reading: Reading) -> Iterator[RenderableType]:
    from rich.text import Text

    from outlive.names import safe
    from outlive.rendering.model_text import shape_text
    from outlive.units import format_bytes, plural

    size = format_bytes(reading.file_bytes)
    yield Text.assemble((safe(reading.path or "the given bytes", 160), "bold"), f"  {size}")
    if reading.model is None:
        return
    operators = sum(1 for _ in reading.model.operators())
    yield Text(f"  {plural(operators, 'operator')}, {plural(len(reading.model.subgraphs), 'subgraph')}")

    def line(what: str, tensors: Sequence[Tensor]) -> Text:
        told = [f"{safe(item.name, _NAME)} {shape_text(item)} {item.dtype}" for item in tensors[:4]]
        more = f", and {len(tensors) - 4} more" if len(tensors) > 4 else ""
        return Text(f"  {what:<8} {', '.join(told)}{more}")

    yield line("inputs", reading.model.inputs)
    yield line("outputs", reading.model.outputs)


def _need(plan: Plan | None) -> Iterator[RenderableType]:
    from rich.text import Text

    from outlive.arena.budget import needed_bytes
    from outlive.rendering.pages.plan import amount

    if plan is None:
        return
    needed = needed_bytes(plan)
    said = "does not run on this runtime" if needed is None else amount(plan, needed)
    yield Text(f"  memory   {said}, as planned: outlive plan MODEL for its parts")


def _findings(judgement: Judgement) -> Iterator[RenderableType]:
    from outlive.rendering.finding_text import count_findings
    from outlive.rendering.model_text import heading

    if not judgement.findings:
        return
    yield heading("findings", count_findings(judgement.findings))
    yield from _told(judgement.findings)


def _told(findings: Sequence[Finding]) -> Iterator[RenderableType]:
    """Errors and warnings in full, a few notes in a line each."""
    from outlive.rendering.finding_text import rich_finding

    grave = [finding for finding in findings if finding.severity is not Severity.NOTE]
    yield from (rich_finding(finding) for finding in grave)
    yield from _notes([finding for finding in findings if finding.severity is Severity.NOTE])


def _notes(notes: list[Finding]) -> Iterator[RenderableType]:
    from rich.text import Text

    from outlive.names import safe

    yield from (Text(f"  {safe(str(finding), 160)}") for finding in notes[:_SHOWN_NOTES])
    if len(notes) > _SHOWN_NOTES:
        yield Text(f"  and {len(notes) - _SHOWN_NOTES} more: outlive check MODEL")


def _run(flight: Flight | None) -> Iterator[RenderableType]:
    from rich.text import Text

    from outlive.units import format_bytes

    if flight is None or flight.died or flight.error_type:
        return
    invoke = dict(flight.stages).get("invoke", 0.0)
    peak = "" if flight.peak_bytes is None else f", it held up to {format_bytes(flight.peak_bytes)}"
    yield Text.assemble("\n", ("ran", "bold green"), f"  invoke took {invoke * 1000:,.2f} ms{peak}")
