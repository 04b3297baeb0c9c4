"""What a line may cost: few rows are tried on it, and no pattern's work explodes with its length."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from outlive.diagnosis import messages
from outlive.diagnosis.messages import Message, known_messages

REPEATS = ("max_repeat", "min_repeat")
# More than this many times counts as without end.
MANY = 20
MOST_ROWS_TRIED = 80
MOST_OPEN_REPEATS = 9


def tree(pattern: re.Pattern[str]) -> Any:
    parser = importlib.import_module("re._parser" if hasattr(re, "_parser") else "sre_parse")
    return parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)


def parts(code: Any, value: Any) -> list[Any]:
    name = str(code).lower()
    if name == "subpattern":
        return [value[-1]]
    if name == "branch":
        return list(value[1])
    if name in REPEATS:
        return [value[2]]
    if name in ("assert", "assert_not"):
        return [value[1]]
    return []


def is_open(code: Any, value: Any) -> bool:
    return str(code).lower() in REPEATS and int(value[1]) > MANY


def is_separated(body: Any) -> bool:
    """A body that begins or ends with a letter of its own can be cut up in one way only."""
    ends = [str(body[0][0]).lower(), str(body[-1][0]).lower()]
    return "literal" in ends


def nested(items: Iterable[Any], inside: bool = False) -> bool:
    for code, value in items:
        starts = is_open(code, value)
        if starts and inside:
            return True
        deeper = inside or (starts and not is_separated(value[2]))
        if any(nested(part, deeper) for part in parts(code, value)):
            return True
    return False


def open_repeats(items: Iterable[Any]) -> int:
    """The most repeats without end that follow each other on one way through a pattern."""
    return sum(
        is_open(code, value) + max((open_repeats(part) for part in parts(code, value)), default=0)
        for code, value in items
    )


def patterns() -> Iterator[tuple[Message, re.Pattern[str]]]:
    for row in known_messages():
        for pattern in (row.pattern, row.when, row.unless):
            if pattern is not None:
                yield row, pattern


def test_no_repeat_without_end_is_inside_another() -> None:
    assert not [row.id for row, pattern in patterns() if nested(tree(pattern))]


def test_few_repeats_without_end_follow_each_other() -> None:
    assert not [row.id for row, pattern in patterns() if open_repeats(tree(pattern)) > MOST_OPEN_REPEATS]


@pytest.mark.parametrize("bad", [r"(?:\w+)*x", r"(?:a|\S+\S*)+b", r"(?P<n>(?:[a-z]*)+)!"])
def test_a_pattern_that_explodes_is_noticed(bad: str) -> None:
    assert nested(tree(re.compile(bad)))


@pytest.mark.parametrize(
    "line",
    [
        "Epoch 3/10 - loss: 0.3127 - accuracy: 0.9001 - val_loss: 0.41",
        "I0000 00:00:17 gl_context.cc:369] GL version: 3.1, renderer: Mali",
        "RuntimeError: tensorflow/lite/kernels/conv.cc:343 input->dims->size != 4 (3 != 4)Node number 0",
        'Traceback (most recent call last): File "/usr/lib/python3.11/site-packages/tf/x.py", line 3',
        "GET /v1/models/cats:predict HTTP/1.1 200 " + "x" * 4000,
    ],
)
def test_a_line_is_tried_against_few_rows(line: str) -> None:
    assert len(list(messages.candidates(line))) <= MOST_ROWS_TRIED < len(known_messages()) / 5
