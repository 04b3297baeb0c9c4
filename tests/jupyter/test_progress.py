"""Long calls in a real kernel show how far they are: as widgets where there are widgets, else as text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

import outlive
from outlive.jupyter import progress
from outlive.verbs.progress import heard, set_hearer
from tests.deaths.restrictions import linux_only
from tests.jupyter.kernel import Kernel, started

WIDGET = "application/vnd.jupyter.widget-view+json"
LEAK = """
def slow():
    import time
    time.sleep(0.12)
growth = outlive.leak(slow, repeat=20, memory={memory!r})
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with started(OUTLIVE_BLACKBOX_DIR=str(tmp_path_factory.mktemp("box"))) as running:
        assert not running.run("%load_ext outlive\nimport sys, outlive").error
        yield running


@linux_only
def test_a_bar_where_there_are_widgets(kernel: Kernel) -> None:
    pytest.importorskip("ipywidgets", reason="needs the package ipywidgets")
    cell = kernel.run(LEAK.format(memory=None))
    assert (cell.error, cell.text) == ("", "")
    (shown,) = cell.shown
    assert WIDGET in shown
    assert not kernel.run("from ipywidgets.widgets.widget import _instances as widgets").error
    assert kernel.run("len(widgets)").plain() == "0"


@linux_only
def test_a_line_of_text_where_there_are_none(kernel: Kernel) -> None:
    assert not kernel.run(
        "kept = {n: sys.modules.pop(n) for n in list(sys.modules) if n == 'ipywidgets'}"
    ).error
    assert not kernel.run("sys.modules['ipywidgets'] = None").error
    cell = kernel.run(LEAK.format(memory=None))
    assert not kernel.run("sys.modules.pop('ipywidgets'); sys.modules.update(kept)").error
    assert (cell.error, cell.text) == ("", "")
    (shown,) = cell.shown
    assert shown["text/plain"].startswith("leak: ")
    assert WIDGET not in shown


@linux_only
def test_a_mistake_leaves_no_bar_behind(kernel: Kernel) -> None:
    cell = kernel.run(LEAK.format(memory="much"))
    assert cell.error == "ValueError"
    assert cell.shown == ()


@linux_only
def test_unloaded_is_silent(kernel: Kernel) -> None:
    assert not kernel.run("%unload_ext outlive").error
    cell = kernel.run(LEAK.format(memory=None))
    assert not kernel.run("%load_ext outlive").error
    assert (cell.error, cell.shown) == ("", ())


class Noted:
    """A surface that notes what it is shown."""

    def __init__(self) -> None:
        self.said: list[tuple[str, float | None]] = []
        self.ended: list[str] = []

    def show(self, words: str, share: float | None) -> None:
        self.said.append((words, share))

    def end(self, words: str) -> None:
        self.ended.append(words)


def test_what_is_over_soon_is_not_shown() -> None:
    surface = Noted()
    showing = progress.ProgressDisplay("compare", lambda: surface)
    showing.tell(1, 2, 5)
    showing.end("compare: 0.1 s")
    assert (surface.said, surface.ended) == ([], [])


def test_what_takes_longer_is_shown_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    surface = Noted()
    showing = progress.ProgressDisplay("compare", lambda: surface)
    for number in range(100):
        now[0] += 0.01
        showing.tell(2, 4, number)
    showing.end("compare: 1.0 s")
    showing.end("")
    assert 2 <= len(surface.said) <= 5
    assert surface.said[0] == ("compare: sample 69, turn 2 of 4", 0.25)
    assert surface.ended == ["compare: 1.0 s"]


@pytest.mark.parametrize(
    ("verb", "news", "words"),
    [
        ("compare", (1, 1, 7), ("sample 7", None)),
        ("quantize", (3,), ("sample 3", None)),
        ("leak", ("load", "12 rounds"), ("load: 12 rounds", None)),
        ("probe", ("trying gpu",), ("trying gpu", None)),
    ],
)
def test_what_is_said(verb: str, news: tuple[Any, ...], words: tuple[str, float | None]) -> None:
    assert progress.in_words(verb, news) == words


def test_a_surface_that_fails_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> progress.Surface:
        raise RuntimeError("no screen")

    showing = progress.ProgressDisplay("probe", fail)
    monkeypatch.setattr(progress, "_EVERY_S", 0.0)
    showing._next = 0.0
    showing.tell("anything")
    showing.tell("again")
    showing.end("")


def test_names_from_files_cannot_hide_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    surface = Noted()
    showing = progress.ProgressDisplay("probe", lambda: surface)
    showing._next = 0.0
    showing.tell("trying \u202eevil\x1b[31m" + "x" * 10_000)
    (words, _) = surface.said[0]
    assert "\u202e" not in words
    assert "\x1b" not in words
    assert len(words) <= 120


@contextmanager
def hearing(verb: str, heard_words: list[Any]) -> Iterator[Any]:
    heard_words.append(verb)
    yield lambda *news: heard_words.append(news)
    heard_words.append("end")


def test_a_verb_is_heard_unless_its_caller_listens_itself() -> None:
    said: list[Any] = []

    def hearer(verb: str) -> AbstractContextManager[Any]:
        return hearing(verb, said)

    @heard
    def inner(*, tell: Any = lambda *_: None) -> None:
        tell("inner")

    @heard
    def outer(*, tell: Any = lambda *_: None) -> str:
        tell("outer")
        inner()
        return "done"

    set_hearer(hearer)
    try:
        assert outer() == "done"
        assert said == ["outer", ("outer",), "end"]
        own: list[Any] = []
        outer(tell=own.append)
        assert own == ["outer"]
        assert said[3:] == ["inner", ("inner",), "end"]
    finally:
        set_hearer(None)
    assert outer() == "done"
    assert len(said) == 6


def test_the_long_verbs_are_heard() -> None:
    for name in ("compare", "quantize", "convert", "fit", "leak", "probe", "diagnose"):
        assert hasattr(getattr(outlive, name), "__wrapped__")


def test_a_terminal_gets_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", screen)
    surface = progress.TerminalLine()
    surface.show("leak: load", None)
    surface.show("leak: on", None)
    surface.end("")
    assert screen.getvalue() == "\rleak: load\rleak: on  \r        \r"
