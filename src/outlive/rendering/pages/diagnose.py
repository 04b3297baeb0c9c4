"""A diagnosis as blocks: the cause, what was tried, what works."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from outlive.diagnosis.diagnosis_record import Diagnosis
from outlive.finding import shell_path
from outlive.process.flight import OpSeen
from outlive.rendering import page as ui
from outlive.rendering.pages.read import model_sections, model_tiles, what_is_known
from outlive.rendering.pages.run import flight_section
from outlive.units import format_bytes, plural

_TONES = {"ran": "good", "died": "bad", "deadline": "bad", "refused": "warn"}


def page(diagnosis: Diagnosis) -> ui.Page:
    """The page of a diagnosis."""
    sections = [diagnosis_section(diagnosis)]
    if diagnosis.end is not None:
        sections.append(replace(flight_section(diagnosis.end.flight), detail=1))
    shown = {(item.code, item.op) for item in (diagnosis.verdict, *diagnosis.silent) if item is not None}
    others = [finding for finding in diagnosis.findings if (finding.code, finding.op) not in shown]
    sections += [replace(section, detail=1) for section in ui.findings_sections(others, "Other findings")]
    sections += model_sections(diagnosis.source, what_is_known())
    tiles = model_tiles(diagnosis.source)
    return ui.make_page("diagnose", diagnosis.path, diagnosis_verdict(diagnosis), tiles, sections)


def diagnosis_verdict(diagnosis: Diagnosis) -> ui.PageVerdict:
    """How it ends, and why, in a sentence."""
    finding, end = diagnosis.verdict, diagnosis.end
    if finding is None:
        return ui.PageVerdict("good", "runs", "The model ran and returned its outputs.")
    sentence = finding.headline + (f" ({finding.where})" if finding.where else "")
    if end is None:
        ran = any(trial.ran for trial in diagnosis.trials)
        word = "ran, but is invalid" if ran else "cannot run"
        return ui.PageVerdict("warn", word, sentence)
    flight = end.flight
    if end.manner == "deadline":
        return ui.PageVerdict("bad", f"hangs in {flight.stage}", sentence)
    if end.manner == "died":
        how = flight.signal or f"exit code {flight.exit_code}"
        return ui.PageVerdict("bad", f"crashes: {how} in {flight.stage}", sentence)
    return ui.PageVerdict("bad", f"refused in {flight.stage}: {flight.error_type}", sentence)


def diagnosis_section(diagnosis: Diagnosis) -> ui.Section:
    """Why it ends as it does."""
    blocks: list[ui.Block] = []
    if diagnosis.verdict is not None:
        blocks.append(ui.Findings((diagnosis.verdict,)))
    if diagnosis.silent:
        blocks.append(ui.Findings(diagnosis.silent))
    blocks += _conclusions(diagnosis)
    if diagnosis.trials:
        blocks.append(_trials(diagnosis))
    lead = f"{diagnosis.cause}{_place(diagnosis.op)}." if diagnosis.cause else ""
    return ui.Section("diagnosis", "Cause", tuple(blocks), lead=lead)


def _place(op: OpSeen | None) -> str:
    if op is None:
        return ""
    index = "" if op.index is None else f"{op.index}, "
    subgraph = f" of subgraph {op.subgraph}" if op.subgraph else ""
    return f", at operator {index}{op.type}{subgraph}"


def _conclusions(diagnosis: Diagnosis) -> Iterator[ui.Block]:
    if diagnosis.end is None:
        return
    if diagnosis.works_with:
        yield ui.Words(f"Works with {', '.join(diagnosis.works_with)}.", tone="good")
    else:
        yield ui.Words("No tested configuration works.", tone="warn")
    if diagnosis.ruled_out:
        yield ui.Listing(diagnosis.ruled_out, title="Ruled out")
    running, needed = diagnosis.running, diagnosis.needed
    if running is not None and needed is not None and running.index not in (None, needed.index):
        yield ui.Words(
            f"Running{_place(running)[4:]}; the shortest failing prefix ends with{_place(needed)[4:]}."
        )
    made = diagnosis.reproducer
    if made is not None:
        size = f"{plural(len(made.ops), 'operator')}, {format_bytes(made.bytes)}"
        yield ui.Command(
            f"python {shell_path(made.script)}",
            f"Reproducer: {made.path}, {size}",
        )
    elif diagnosis.path:
        yield ui.Command(
            f"outlive diagnose {shell_path(diagnosis.path)} --reduce small.tflite",
            "To create a minimal model for a bug report:",
        )


def _trials(diagnosis: Diagnosis) -> ui.Table:
    return ui.Table(
        "trials",
        "Trials, each in a separate process",
        ui.columns("with", ui.Column("result", "chip", _TONES), "end: wide | seconds: number"),
        [(trial.name, trial.manner, trial.ending, round(trial.seconds, 3)) for trial in diagnosis.trials],
        detail=0 if diagnosis.end is None else 1,
    )
