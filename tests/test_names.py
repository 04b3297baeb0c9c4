"""Text from a stranger's file cannot change what a terminal shows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import outlive
from outlive.model import Model, read_source
from outlive.names import safe, shorten
from outlive.rendering import page_of
from outlive.rendering.finding_text import plain_finding, rich_finding
from outlive.rendering.media.text import draw_text
from outlive.rules import Judgement
from outlive.surgery import write
from outlive.verbs.read import ReadFile, ReadFiles, read_files
from tests.rendering.stage import HOSTILE, named, plain, unsafe
from tests.rules.small import dense

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def _view(shown: str) -> Callable[[Model], Iterable[Any]]:
    def draw(model: Model) -> Iterable[Any]:
        file = ReadFile(reading=read_source(model), judgement=Judgement(findings=(), not_checked=()))
        found = ReadFiles(files=(file,), shown=(shown,) if shown else (), tolerant=True)
        return draw_text(page_of(found), 2)

    return draw


VIEWS = {name: _view(name) for name in ("", "ops", "tensors", "graph")}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("conv1/weights:0", "conv1/weights:0"),
        ("entrée 入力 ✓", "entrée 入力 ✓"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("\u202eabc", "\\u202eabc"),
        ("pay\u200bpal", "pay\\u200bpal"),
        ("a\u2028b", "a\\u2028b"),
        ("\udcff", "\\udcff"),
        ("\U000e0041", "\\U000e0041"),
        ("[red]x[/red]", "[red]x[/red]"),
        ("", ""),
    ],
)
def test_unsafe_characters_become_escapes_and_others_stay(text: str, shown: str) -> None:
    assert safe(text) == shown


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("block1/conv/weights", 19, "block1/conv/weights"),
        ("block1/conv/weights", 10, "blo…eights"),
        ("abc", 2, "a…"),
        ("abc", 1, "…"),
    ],
)
def test_long_names_lose_their_middle(text: str, limit: int, shown: str) -> None:
    assert shorten(text, limit) == shown
    assert safe(text, limit) == shown


@given(ANY_TEXT, st.integers(0, 60))
@example("\x1b" * 1000, 7)
@example("x" * 1_000_000 + "\x1b", 48)
def test_no_text_gets_through_unsafe_or_longer_than_allowed(text: str, limit: int) -> None:
    shown = safe(text, limit)
    assert unsafe(shown) == set()
    assert "\n" not in shown
    assert not limit or len(shown) <= limit


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"])))
def test_harmless_text_is_not_touched(text: str) -> None:
    assert safe(text) == text


def test_the_ends_of_a_name_of_a_megabyte_are_kept() -> None:
    shown = safe("start" + "x" * 1_000_000 + "end", 48)
    assert shown.startswith("start")
    assert shown.endswith("end")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_names_cannot_change_the_terminal(name: str, view: str) -> None:
    model = outlive.read(named(name))
    text = plain(VIEWS[view](model))
    assert unsafe(text) == set()
    assert len(text) < 20_000
    assert not any(line.startswith("error[F999]") for line in text.splitlines())
    assert safe(name, 12)[:3] in text, "the name is shown, escaped"


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_names_cannot_hide_in_findings(name: str) -> None:
    findings = outlive.check(named(name)).findings
    assert {"M101", "M103", "M104", "M105"} <= {finding.code for finding in findings}
    for text in (plain([rich_finding(item)]) for item in findings):
        assert unsafe(text) == set()
        assert len(text) < 10_000
    assert all(unsafe(plain_finding(item)) == set() for item in findings)


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_names_cannot_hide_in_an_error(name: str) -> None:
    """A signature of a tensor that is not there shows its name in the message of the exception."""
    ends = {"inputs": [{"name": name, "tensor_index": 99}], "outputs": []}
    with pytest.raises(ValueError, match="F112") as caught:
        outlive.read(write(dense(signature_defs=[{"signature_key": name, **ends}])))
    assert unsafe(str(caught.value)) == set()


def test_a_hostile_path_cannot_change_the_table_of_files(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[95m\nb\u202e.tflite"
    path.write_bytes(named("\x1b[95mfire"))
    text = plain(draw_text(page_of(read_files([path, tmp_path / "missing\x1b[2J.tflite"]))))
    assert unsafe(text) == set()
    assert len(text.splitlines()) == 6


@pytest.mark.parametrize("name", ["[red]x[/red]", "[/]", ":smile:", "[link=http://x]y[/link]", "\\[bold]"])
def test_names_that_look_like_markup_appear_as_they_are(name: str) -> None:
    model = outlive.read(named(name))
    for view in VIEWS.values():
        assert name in plain(view(model))
    assert name in plain(map(rich_finding, outlive.check(model)))


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_terminal_gets_no_escape_from_a_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from outlive.rendering.console import print_parts

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    model, stream = outlive.read(named(name)), Terminal()
    for view in VIEWS.values():
        print_parts(view(model), stream)
    text = stream.getvalue()
    assert "\x1b[1m" in text, "our own colours are there"
    assert not any(escape in text for escape in ("\x1b[95m", "\x1b]", "\x1b[2J", "\x1b[5m", "\x9b"))
    assert unsafe(text) == {"\x1b"}
