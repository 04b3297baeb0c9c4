"""Names from a stranger's file do nothing in code: they are what they say, or a dot."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.exporting.ports import (
    Foreign,
    _environment,
    c_string,
    comment,
    identifier,
    is_namespace,
    java_string,
    number,
    python_string,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


def test_a_foreign_text_cannot_be_printed() -> None:
    with pytest.raises(TypeError, match="has to pass a filter"):
        f"{Foreign('x')}"
    template = _environment().from_string("{{ name }}")
    with pytest.raises(TypeError, match="has to pass a filter"):
        template.render(name=Foreign("x"))


@given(TEXTS)
def test_comments_hold_one_line_of_plain_characters(text: str) -> None:
    said = comment(Foreign(text))
    assert re.fullmatch(r"[ -~]*", said)
    assert not set('\\?"`<>') & set(said)
    assert "*/" not in said
    assert "/*" not in said
    assert len(said) <= 80


def test_comments_read_about_the_same() -> None:
    assert comment(Foreign("serving_default_image:0")) == "serving_default_image:0"


@given(TEXTS)
def test_python_strings_are_what_they_were(text: str) -> None:
    assert ast.literal_eval(python_string(Foreign(text))) == text


@given(TEXTS)
def test_c_strings_are_what_they_were(text: str) -> None:
    written = c_string(Foreign(text))[1:-1]
    plain = re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), written.encode("ascii"))
    assert plain == text.encode()
    assert not re.search(r'(?<!\\)"|\?', written)


@given(TEXTS)
def test_java_strings_are_what_they_were(text: str) -> None:
    written = java_string(Foreign(text))[1:-1]
    assert written.isascii()
    assert written.isprintable()
    units = bytearray()
    for found in re.finditer(r'\\u([0-9a-f]{4})|\\([0-7]{3})|\\(["\\])|([^\\"])', written):
        code = int(found[1], 16) if found[1] else int(found[2], 8) if found[2] else ord(found[3] or found[4])
        # What Java turns into a character before it reads the code must not mean anything there.
        assert not found[1] or code >= 128
        units += code.to_bytes(2, "little")
    assert units.decode("utf-16-le") == text


@given(TEXTS, st.sets(st.sampled_from(["x", "x_2", "input_0"])))
def test_identifiers_are_names_that_are_free(text: str, taken: set[str]) -> None:
    name = identifier(text, "input_0", taken)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    assert name not in taken
    assert len(name) < 60


@pytest.mark.parametrize("word", ["class", "new", "std", "sin", "round", "free", "Mixed", "two words", ""])
def test_words_of_a_language_are_no_namespaces(word: str) -> None:
    assert not is_namespace(word)
    assert is_namespace("doorbell_2")


def test_numbers_come_back_to_the_bit() -> None:
    assert [float(number(value)) for value in (0.1, 3.0, 1e-30, -2.5e20)] == [0.1, 3.0, 1e-30, -2.5e20]
    with pytest.raises(ValueError, match="not a number"):
        number(float("nan"))
