"""Puts a model beside what a log says: faults of its file, its sizes, and which operator is meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from outlive.diagnosis.advice import KnownLimits, has_fixed_shapes, steps_that_hold
from outlive.diagnosis.autopsy import Autopsy
from outlive.diagnosis.diagnosis_case import file_findings
from outlive.diagnosis.run_cause import with_cause
from outlive.finding import Finding, Severity, shell_path
from outlive.model import Model, Subgraph, Tensor, read_source
from outlive.names import safe
from outlive.process.flight import Flight, OpSeen

_NAME = re.compile(r"[\w./\\:~+-]+\.(?:tflite|litert|lite)\b")
_FILE = re.compile(r"\b(?:FILE|MODEL)\b")
_MOST_NAMES, _MOST_FINDINGS = 20, 5
# A fault of the file itself says more than the log of a run with it.
_FILE_FAMILY = "F"
# Answers that leave room for a fault of the model: crashes, refusals, operators. Others (a missing library, a
# process that was killed) are whole.
_OF_MODEL = ("D504", "D505", "D506", "D511", "D533", "O", "Q")
_MOST_PORTS = 4


def named_model(text: str, folder: str) -> str:
    """The one model file that a text names and that is there, as it stands or in the log's folder; or ""."""
    words = list(dict.fromkeys(_NAME.findall(text)))[:_MOST_NAMES]
    places = (os.path.join(base, word) for word in words for base in ("", folder))
    found = list(dict.fromkeys(os.path.realpath(place) for place in places if os.path.isfile(place)))
    return found[0] if len(found) == 1 else ""


def with_model(answer: Autopsy, source: str | bytes) -> Autopsy:
    """The autopsy with what the model's file says: its fault, as `diagnose` names it, sizes, the operator."""
    reading = read_source(source)
    errors = [item for item in file_findings(reading, resized=False) if item.severity is Severity.ERROR]
    path = source if isinstance(source, str) else ""
    name = shell_path(path)
    do = tuple(_FILE.sub(lambda _: name, words) for words in answer.do) if path else answer.do
    answer = replace(answer, model=path, do=do, findings=tuple(errors[:_MOST_FINDINGS]))
    broken = next((item for item in errors if item.code.startswith(_FILE_FAMILY)), None)
    if broken is not None:
        return _of_fault(answer, broken)
    if reading.model is None:
        return answer
    known = KnownLimits(fixed_shapes=has_fixed_shapes(reading.model), code=answer.code)
    do = steps_that_hold(answer.do, known)
    answer = replace(answer, op=_placed(answer, reading.model), do=do)
    fault = _fault(answer, source)
    if fault is not None:
        return _of_fault(answer, fault)
    facts = ". ".join(_facts(answer, reading.model))
    return replace(answer, meaning=f"{answer.meaning}. {facts}" if facts else answer.meaning)


def _fault(answer: Autopsy, source: str | bytes) -> Finding | None:
    """The fault of the model that ended it, by the verdict on a run that ended so; None if none is seen."""
    found = answer.finding
    if found is None or not found.code.startswith(_OF_MODEL):
        return None
    op = answer.op if answer.op is not None and "Delegate" not in answer.op.type else None
    flight = Flight(
        died=bool(answer.signal),
        stage=answer.stage or "invoke",
        signal=answer.signal or None,
        op=op,
        frames=answer.frames,
        error_type="" if answer.signal else "RuntimeError",
        error_text="" if answer.signal else "\n".join(clue.match.line for clue in answer.clues),
    )
    judged = with_cause(found, flight, source)
    return None if judged.code == found.code or judged.code.startswith("D") else judged


def _of_fault(answer: Autopsy, finding: Finding) -> Autopsy:
    fact, what = finding.evidence[0].fact, "log" if answer.core is None else "core"
    fault = finding.headline if fact.partition(";")[0] in finding.headline else f"{finding.headline}: {fact}"
    meaning = f"{fault}. The {what} says: {answer.meaning}"
    steps = tuple(remedy.command or remedy.action for remedy in finding.remedies)
    at = finding.op
    findings = (finding, *(item for item in answer.findings if item.code != finding.code))
    return replace(
        answer,
        code=finding.code,
        cause=finding.cause,
        stage=answer.stage or "load",
        op=answer.op if at is None else OpSeen(type=at.type, subgraph=at.subgraph, index=at.index),
        meaning=meaning,
        do=(*steps, *answer.do),
        findings=findings,
    )


def _placed(answer: Autopsy, model: Model) -> OpSeen | None:
    """The operator with its subgraph where the model has one of that type at that index."""
    op, graph = answer.op, model.subgraphs[0] if model.subgraphs else None
    at_work = op is None and answer.stage in ("allocate", "invoke")
    if at_work and graph is not None and len(graph.operators) == 1 == len(model.subgraphs):
        return OpSeen(type=graph.operators[0].name, index=0)  # there is no other
    if op is None or op.index is None or graph is None or op.index >= len(graph.operators):
        return op
    same = graph.operators[op.index].name == op.type
    return replace(op, subgraph=0) if same else op


def _facts(answer: Autopsy, model: Model) -> Iterator[str]:
    """What the model says to the sizes and the operator in the message."""
    graph = model.subgraphs[0] if model.subgraphs else None
    if graph is None:
        return
    count = len(graph.operators)
    op = answer.op
    if op is not None and op.index is not None and op.index < count and "Delegate" not in op.type:
        operator = graph.operators[op.index]
        if operator.name == op.type:
            names = ", ".join(graph.tensors[index].name for index in operator.outputs)
            yield f"In this model it is operator {op.index} of {count}, which makes {safe(names, 80)}"
        else:
            yield f"Operator {op.index} of this model is {operator.name}: the log is of another model"
    if answer.code[:2] == "I2":
        yield from _compared(answer, graph)
        yield from (f"Input {_described(tensor)}" for tensor in graph.inputs[:_MOST_PORTS])
        yield from (f"Output {_described(tensor)}" for tensor in graph.outputs[:_MOST_PORTS])


def _compared(answer: Autopsy, graph: Subgraph) -> Iterator[str]:
    """Which input or output the message means, by the bytes, shape or type that it says is wanted."""
    said = [clue.match for clue in answer.clues if "needed" in clue.match.groups]
    wanted = said[0].groups["needed"] if said else ""
    if not wanted or (wanted.isdigit() and not re.search("bytes|data count", said[0].line)):
        return
    ports = [("input", tensor) for tensor in graph.inputs] + [("output", tensor) for tensor in graph.outputs]
    meant = [f"{side} {safe(tensor.name, 60)}" for side, tensor in ports if wanted in _measures(tensor)]
    if meant:
        yield f"By what it wants ({safe(wanted, 60)}) the message is about {' or '.join(meant[:_MOST_PORTS])}"
    else:
        yield f"No input or output of this model is {safe(wanted, 60)}: the log is of another model"


def _measures(tensor: Tensor) -> tuple[str, ...]:
    """Bytes, shape and type of a tensor as messages write them."""
    return str(tensor.size_bytes), str(list(tensor.shape)), tensor.dtype.upper()


def _described(tensor: Tensor) -> str:
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    size = tensor.size_bytes
    return f"{safe(tensor.name, 60)} is {shape} {tensor.dtype}" + (f", {size:,} bytes" if size else "")
