"""`outlive MODEL`: the whole check-up on one screen: read, plan, check, run, and diagnose if needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.cli import exits
from outlive.cli.commands.diagnose import exit_code
from outlive.cli.output import (
    add_output_options,
    complain,
    progress,
    refuse_to_overwrite,
    write_json,
    write_text,
)
from outlive.cli.parser import Parser
from outlive.errors import OutliveError
from outlive.finding import Finding, Severity
from outlive.verbs.report import checkup

if TYPE_CHECKING:
    from rich.console import RenderableType

    from outlive.arena.plan import Plan
    from outlive.diagnosis.examination import Checkup
    from outlive.model import Reading, Tensor
    from outlive.rules import Judgement
    from outlive.worker.flight import Flight

_NAME = 48
_SHOWN_NOTES = 3


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
            found = checkup(args.file, tell)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    if args.format == "json":
        write_json(args, _document(found))
    else:
        write_text(args, _text(found))
    return _exit_code(found)


def _exit_code(found: Checkup) -> int:
    if found.diagnosis is not None and found.ended_badly:
        return exit_code(found.diagnosis)
    return exits.FINDINGS if found.checked.judgement.errors else exits.CLEAN


def _document(found: Checkup) -> object:
    from outlive.rendering.diagnosis_json import diagnosis_json
    from outlive.rendering.document import document
    from outlive.rendering.flight_json import flight_json
    from outlive.rendering.model_json import reading_json
    from outlive.rendering.plan_json import plan_json

    path = found.checked.reading.path
    body = {
        "read": reading_json(found.checked.reading, found.checked.judgement),
        "plan": None if found.plan is None else plan_json(found.plan, None, ()),
        "run": None if found.flight is None else flight_json(found.flight, path, found.silent),
        "diagnose": None if found.diagnosis is None else diagnosis_json(found.diagnosis),
    }
    return document("checkup", body)


def _text(found: Checkup) -> Iterator[RenderableType]:
    from outlive.rendering.diagnosis_text import diagnosis_text

    yield from _opening(found.checked.reading)
    yield from _need(found.plan)
    yield from _findings(found.checked.judgement)
    yield from _run(found.flight)
    yield from _told(found.silent)
    if found.diagnosis is not None:
        yield from diagnosis_text(found.diagnosis)


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
    from outlive.rendering.plan_text import amount

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
