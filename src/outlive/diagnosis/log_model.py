"""Puts a model beside what a log says: faults of its file, its sizes, and which operator is meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from outlive.diagnosis.autopsy import Autopsy
from outlive.diagnosis.diagnosis_case import file_findings
from outlive.finding import Finding, Severity, shell_path
from outlive.model import Model, Tensor, read_source
from outlive.names import safe
from outlive.process.flight import OpSeen

_NAME = re.compile(r"[\w./\\:~+-]+\.(?:tflite|litert|lite)\b")
_FILE = re.compile(r"\b(?:FILE|MODEL)\b")
_MOST_NAMES, _MOST_FINDINGS = 20, 5
# A fault of the file itself says more than the log of a run with it.
_FILE_FAMILY = "F"


def named_model(text: str, folder: str) -> str:
    """The one model file that a text names and that is there, as it stands or in the log's folder; or ""."""
    words = list(dict.fromkeys(_NAME.findall(text)))[:_MOST_NAMES]
    places = (os.path.join(base, word) for word in words for base in ("", folder))
    found = list(dict.fromkeys(os.path.realpath(place) for place in places if os.path.isfile(place)))
    return found[0] if len(found) == 1 else ""


def with_model(answer: Autopsy, path: str) -> Autopsy:
    """The autopsy with what the model's file says: errors first, then sizes and the operator it names."""
    reading = read_source(path)
    errors = [item for item in file_findings(reading, resized=False) if item.severity is Severity.ERROR]
    name = shell_path(path)
    do = tuple(_FILE.sub(lambda _: name, words) for words in answer.do)
    answer = replace(answer, model=path, do=do, findings=tuple(errors[:_MOST_FINDINGS]))
    broken = next((item for item in errors if item.code.startswith(_FILE_FAMILY)), None)
    if broken is not None:
        return _of_broken_file(answer, broken)
    if reading.model is None:
        return answer
    facts = ". ".join(_facts(answer, reading.model))
    op = _placed(answer.op, reading.model)
    return replace(answer, op=op, meaning=f"{answer.meaning}. {facts}" if facts else answer.meaning)


def _of_broken_file(answer: Autopsy, finding: Finding) -> Autopsy:
    meaning = f"{finding.headline}: {finding.evidence[0].fact}. The log says: {answer.meaning}"
    steps = tuple(remedy.command or remedy.action for remedy in finding.remedies)
    return replace(
        answer,
        code=finding.code,
        cause=finding.cause,
        stage=answer.stage or "load",
        meaning=meaning,
        do=(*steps, *answer.do),
    )


def _placed(op: OpSeen | None, model: Model) -> OpSeen | None:
    """The operator with its subgraph where the model has one of that type at that index."""
    graph = model.subgraphs[0] if model.subgraphs else None
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
    if answer.op is not None and answer.op.index is not None and answer.op.index < count:
        operator = graph.operators[answer.op.index]
        if operator.name == answer.op.type:
            names = ", ".join(graph.tensors[index].name for index in operator.outputs)
            yield f"In this model it is operator {answer.op.index} of {count}, which makes {safe(names, 80)}"
        else:
            yield f"Operator {answer.op.index} of this model is {operator.name}: the log is of another model"
    if answer.code[:2] == "I2":
        yield from (f"Input {_described(tensor)}" for tensor in graph.inputs[:4])
        yield from (f"Output {_described(tensor)}" for tensor in graph.outputs[:4])


def _described(tensor: Tensor) -> str:
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    size = tensor.size_bytes
    return f"{safe(tensor.name, 60)} is {shape} {tensor.dtype}" + (f", {size:,} bytes" if size else "")
