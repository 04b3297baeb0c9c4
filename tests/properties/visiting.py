"""Looks at everything a reading offers, as a curious program would; what cannot be had must say so."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Mapping
from itertools import chain

import outlive
from outlive.model import Model, Reading, read_source
from outlive.model.file_bytes import FileBytes
from outlive.planning.file_read import FileRead
from outlive.rendering import page_of
from outlive.rendering.console import print_parts
from outlive.rendering.finding_text import plain_finding, rich_finding
from outlive.rendering.media.json import document_of, dump
from outlive.rendering.media.text import draw_text
from outlive.rules import Judgement
from outlive.verbs.read import ReadFile, ReadFiles

# Numbers, names and bytes have nothing below them.
_LEAVES = (str, bytes, int, float, memoryview, FileBytes, type(None))


def read_everything(data: bytes) -> Reading:
    """Read a file in every way the package has, and look at all that comes back."""
    reading = read_source(data)
    assert isinstance(reading, Reading)
    look_at(reading)
    if reading.model is not None:
        visit_model(reading.model)
    _ask_public_verbs(data, reading)
    return reading


def _ask_public_verbs(data: bytes, reading: Reading) -> None:
    try:
        assert isinstance(outlive.read(data), Model)
    except outlive.ModelError as error:
        assert str(error), "a refusal without a word"
        assert reading.flaws or reading.model is None
    try:
        assert isinstance(outlive.read(data, tolerant=True), Model)
    except outlive.ModelError as error:
        assert reading.model is None, f"refused, though tolerant: {error}"


def say_json(data: bytes, reading: Reading) -> None:
    """Write the reading as JSON that every parser takes: no NaN, no infinity."""
    text = dump(document_of(FileRead(reading=reading, judgement=outlive.check(data).files[0].judgement)))
    json.loads(text, parse_constant=_refuse)


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


def say_text(data: bytes, reading: Reading) -> None:
    """Draw everything a terminal may be shown."""
    findings = outlive.check(data).findings
    assert all(plain_finding(finding) for finding in findings)
    file = ReadFile(reading=reading, judgement=Judgement(findings=(), not_checked=()))
    shown = [
        ReadFiles(files=(file,), shown=lists, tolerant=True) for lists in ((), ("ops", "tensors", "graph"))
    ]
    drawn = chain.from_iterable(draw_text(page_of(found), 2) for found in shown) if reading.model else ()
    print_parts(chain(drawn, map(rich_finding, findings)), io.StringIO())


def visit_model(model: Model) -> None:
    """Use every property and method of the model and its parts."""
    assert len(model.sha256) == 64
    assert model.file_bytes == len(model.content)
    assert sum(1 for _ in model.tensors()) == sum(len(graph.tensors) for graph in model.subgraphs)
    assert sum(1 for _ in model.operators()) == sum(len(graph.operators) for graph in model.subgraphs)
    for graph in model.subgraphs:
        graph.consumers()
        graph.producers()
    for operator in model.operators():
        operator.subgraphs()
    for tensor in model.tensors():
        try:
            array = tensor.array()
        except LookupError:
            continue
        assert array.shape == tensor.shape
        assert not array.flags.writeable


def look_at(value: object) -> None:
    """Read every field, property and element below `value`; shared things once, as hostile models share."""
    seen: dict[int, object] = {}
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _LEAVES) or id(item) in seen:
            continue
        seen[id(item)] = item
        if dataclasses.is_dataclass(item) and not isinstance(item, type):
            waiting += _attributes(item)
        elif isinstance(item, Mapping):
            waiting += item.values()
        else:
            assert isinstance(item, tuple), f"{type(item).__name__} among the facts of a file"
            waiting += item


def _attributes(item: object) -> list[object]:
    kind = type(item)
    fields = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    properties = [name for name, thing in vars(kind).items() if isinstance(thing, property)]
    return [getattr(item, name) for name in fields + properties]
