"""A diagnosis on one screen: the verdict, what was tried, what works, what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.diagnosis.nouns import Diagnosis
from outlive.finding import shell_path
from outlive.names import safe, whole
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.model_text import grid, heading
from outlive.units import format_bytes, plural
from outlive.worker.flight import OpSeen

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAME = 120


def diagnosis_text(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    from rich.text import Text

    ending, style = _ending(diagnosis)
    yield Text.assemble((safe(diagnosis.path or "the given bytes", _NAME), "bold"), "  ", (ending, style))
    if diagnosis.verdict is not None:
        cause = diagnosis.cause or "unknown"
        yield heading("why", f"cause: {cause}{_place(diagnosis.op)}")
        yield rich_finding(diagnosis.verdict)
    if diagnosis.silent:
        yield heading("silent", "it came back, but")
        yield from map(rich_finding, diagnosis.silent)
    yield from _tried(diagnosis)
    yield from _conclusions(diagnosis)
    yield from _reproducer(diagnosis)


def _ending(diagnosis: Diagnosis) -> tuple[str, str]:
    end = diagnosis.end
    if end is None and diagnosis.verdict is None:
        return "runs", "bold green"
    if end is None:
        ran = any(trial.ran for trial in diagnosis.trials)
        return ("ran here, but is not sound" if ran else "cannot be run"), "bold yellow"
    if end.manner == "deadline":
        return f"did not come back: {end.flight.stage}", "bold red"
    if end.manner == "died":
        how = end.flight.signal or f"exit code {end.flight.exit_code}"
        return f"died: {how}, {end.flight.stage}; this program goes on", "bold red"
    return f"refused: {end.flight.error_type}, {end.flight.stage}", "bold red"


def _place(op: OpSeen | None) -> str:
    if op is None:
        return ""
    index = "" if op.index is None else f"{op.index} "
    subgraph = f" of subgraph {op.subgraph}" if op.subgraph else ""
    return f", at op {index}{safe(op.type, 60)}{subgraph}"


def _tried(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if not diagnosis.trials:
        return
    yield heading("what was tried", "each in a process of its own")
    table = grid("left", "left", "right")
    for trial in diagnosis.trials:
        table.add_row("", trial.name, safe(trial.ending, _NAME), f"{trial.seconds:,.2f} s")
    yield table


def _conclusions(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    from rich.text import Text

    if diagnosis.end is None:
        return
    works = ", ".join(diagnosis.works_with) or "nothing that was tried"
    yield Text.assemble("\n", ("works with  ", "bold"), (works, "green" if diagnosis.works_with else "red"))
    if diagnosis.ruled_out:
        yield Text.assemble(("ruled out   ", "bold"), "; ".join(diagnosis.ruled_out))
    running, needed = diagnosis.running, diagnosis.needed
    if running is not None and needed is not None and running.index not in (None, needed.index):
        fact = f"running{_place(running)[4:]}; the first prefix that ends so ends with{_place(needed)[4:]}"
        yield Text.assemble(("operators   ", "bold"), fact)


def _reproducer(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    from rich.text import Text

    made = diagnosis.reproducer
    if made is not None:
        command = f"python {shell_path(made.script)}"
        size = f"{plural(len(made.ops), 'operator')}, {format_bytes(made.bytes)}"
        yield Text.assemble(("reproducer  ", "bold"), f"{safe(made.path, _NAME)}: {size}; {whole(command)}")
    elif diagnosis.end is not None and diagnosis.path:
        command = whole(f"outlive diagnose {shell_path(diagnosis.path)} --reduce small.tflite")
        yield Text.assemble(("next        ", "bold"), "for a bug report: ", (command, "green"))
