"""A row goes to JSON and comes back; what is no row is refused, whatever it is."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from outlive.fleet.regressions import Tolerances, changes_for_the_worse
from outlive.fleet.rows import AcceleratorSummary, Row, read_row
from outlive.fleet.scanning import ScanCounts
from tests.fleet.made import death, output, row, run


def test_there_and_back() -> None:
    made = row(
        "a\nb\udcff.tflite",
        outcome="died",
        death=death("out-of-memory"),
        accelerators=(AcceleratorSummary(name="gpu", outcome="died", ops_total=3),),
        same_as="c.tflite",
    )
    line = made.line()
    assert line.count(b"\n") == 1
    assert read_row(line) == made


def test_every_line_is_a_document() -> None:
    body = json.loads(row().line())
    assert (body["schema"], body["kind"]) == ("outlive/1", "scan-row")
    assert "number" not in body


def test_numbers_that_json_does_not_have() -> None:
    seen = output(minimum=-math.inf, maximum=math.inf, samples=(math.nan, 1.0))
    line = row(run=run(1.0, 2, seen)).line()
    json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    back = read_row(line).run
    assert back is not None
    assert (back.outputs[0].minimum, back.outputs[0].maximum) == (-math.inf, math.inf)
    assert math.isnan(back.outputs[0].samples[0])


def test_fields_of_a_later_version_are_left_out() -> None:
    body = json.loads(row().line()) | {"invented": 1}
    assert read_row(json.dumps(body).encode()) == row()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"schema":"outlive/1","kind":"scan-row"}',
        b'{"schema":"outlive/1","kind":"scan-row","path":1,"name":"a","outcome":"ran"}',
        b'{"schema":"outlive/1","kind":"scan-row","path":"a","name":"a","outcome":"won"}',
        b'{"schema":"outlive/1","kind":"scan-row","path":"a","name":"a","outcome":"ran","run":7}',
        b'{"schema":"outlive/1","kind":"scan-row","path":"a","name":"a","outcome":"ran","findings":[7]}',
        b'{"schema":"outlive/1","kind":"scan-row","path":"a","name":"a","outcome":[]}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_row(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"row|JSON|Expecting|utf|codec|Extra"):
        read_row(line)


def numbered(body: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where each value of a document is."""
    yield place
    inside = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in inside:
        yield from numbered(value, (*place, key))


@pytest.mark.parametrize(
    "wrong",
    ["text", -1, 1.5, None, True, [], [[]], {}, {"a": {}}, pytest.param(10**400, id="huge"), "NaN"],
)
def test_whatever_is_in_a_field_nobody_stumbles_over_it(wrong: Any) -> None:
    whole = row(
        outcome="died", death=death("x"), accelerators=(AcceleratorSummary(name="gpu", outcome="died"),)
    )
    document = json.loads(whole.line())
    read = 0
    for place in list(numbered(document))[1:]:
        body = json.loads(whole.line())
        inner = body
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = wrong
        try:
            found = read_row(json.dumps(body).encode())
        except ValueError:
            continue
        read += 1
        list(changes_for_the_worse(found, whole, Tolerances()))
        list(changes_for_the_worse(whole, found, Tolerances()))
        ScanCounts().add(found)
        assert read_row(found.line()).line() == found.line()
    assert read or not isinstance(wrong, str)  # a name that is another text is still a row


def test_damaged_lines_give_a_row_or_a_value_error() -> None:
    rng = random.Random(0)
    line = bytearray(row(outcome="died", death=death("x")).line())
    read = 0
    for _ in range(2000):
        damaged = bytearray(line)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.choice(b'{}[]",:0aZ\\\n\xff')
        try:
            read += isinstance(read_row(bytes(damaged)), Row)
        except ValueError:
            continue
    assert read


def test_what_it_comes_to() -> None:
    assert replace(row(), outcome="hung").died
    assert not row().died
    assert row().fits


@pytest.mark.parametrize("outcome", ["unreadable", "too large", "hung", "lost", "failed"])
def test_what_is_of_the_moment(outcome: str) -> None:
    assert row(outcome=outcome).passing
    assert row(changed=True).passing
    starved = replace(death("out-of-memory"), code="O105")
    limited = replace(death(""), code="D502")
    assert all(row(outcome="died", death=one).passing for one in (starved, limited))
    assert not row(outcome="died", death=death("option-out-of-range")).passing
    assert not row().passing
