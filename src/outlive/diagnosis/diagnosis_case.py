"""From what the user gives to a case: a path, bytes, a model that was read, or the record of a run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from outlive.arena.questions import input_rows
from outlive.diagnosis.blamed_operator import blamed_op
from outlive.diagnosis.diagnosis_record import Conditions, Diagnosis
from outlive.diagnosis.investigation import Case, JudgeValues, investigate
from outlive.diagnosis.operator_names import with_path
from outlive.errors import ModelError
from outlive.finding import Finding, Severity
from outlive.interpreter.feeds import given_shapes
from outlive.interpreter.judge import Judge
from outlive.model import Model, Reading, read_source
from outlive.process.limits import Limits
from outlive.rules import assess

# Long enough for any model of usual size, short enough for somebody who waits.
USUAL_SECONDS = 8.0
# What rules on files find without saying which word of the taxonomy it is.
_FILE_CAUSES = {
    "buffer-outside-file": "external-buffer-out-of-file",
    "short-constant": "shape-mismatch",
    "impossible-shape": "shape-mismatch",
}
_BROKEN = "flatbuffer-corrupt"


def open_case(
    source: Any,
    inputs: Any,
    limits: Limits,
    accelerator: str = "cpu",
    threads: int | None = None,
    judge_values: JudgeValues = lambda model, inputs: (),
    *,
    judge: Judge,
) -> Case:
    """What is to be investigated, with everything that can be known without running it.

    `judge_values` is asked about inputs that were chosen, `judge` about ends.
    """
    reading = read_source(source, judge.changed_file)
    shapes = {} if reading.model is None else given_shapes(input_rows(reading.model), inputs)
    findings = file_findings(reading, resized=bool(shapes), accelerator=accelerator)
    seconds = USUAL_SECONDS if limits.seconds is None else limits.seconds
    conditions = Conditions(
        source=_flown(source, reading),
        inputs=inputs,
        accelerator=accelerator,
        threads=threads,
        memory_bytes=limits.memory_bytes,
        seconds=seconds,
        shapes=shapes,
        judge=judge,
    )
    return Case(reading=reading, findings=findings, conditions=conditions, judge_values=judge_values)


def file_findings(reading: Reading, *, resized: bool, accelerator: str = "cpu") -> tuple[Finding, ...]:
    """What the rules say of the file, but for what the way it is run rules out, each with its cause."""
    moot = {"O133"} if resized else set()
    if accelerator != "cpu":
        moot.add("O134")
    return tuple(with_cause(item) for item in assess(reading).findings if item.code not in moot)


def diagnose_case(case: Case, tell: Callable[[str], None] = lambda _: None) -> Diagnosis:
    """The diagnosis; a file that no runtime loads is not run."""
    try:
        case.conditions.judge.refuse_file(case.conditions.source, litert=True)
    except ModelError as error:
        return with_path(_unopened(case, with_cause(error.finding)))
    return with_path(investigate(case, tell))


def with_cause(finding: Finding) -> Finding:
    """The finding with its word of the taxonomy, where its rule has none and the file is to blame."""
    if finding.cause or finding.severity is not Severity.ERROR or not finding.code.startswith("F"):
        return finding
    return replace(finding, cause=_FILE_CAUSES.get(finding.name, _BROKEN))


def _unopened(case: Case, verdict: Finding) -> Diagnosis:
    return Diagnosis(
        path=case.reading.path,
        verdict=verdict,
        cause=verdict.cause,
        stage="load",
        signal=None,
        op=blamed_op(None, verdict, None, ()),
        running=None,
        needed=None,
        works_with=(),
        trials=(),
        findings=case.findings,
    )


def _flown(source: Any, reading: Reading) -> str | bytes:
    """What the worker opens: the path itself where there is one, so that a mapped file is mapped."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    if isinstance(source, Model) and source.path is not None:
        return source.path
    if reading.model is not None:
        return bytes(reading.model.content)
    return bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else b""
