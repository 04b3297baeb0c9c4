"""Progress on a terminal: a bar with a total where there is one, and nothing in a pipe or with -q."""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.cli import terminal
from outlive.quant.samples import count_samples
from outlive.units import Count, Step
from tests.cli.processes import run, run_on_terminal

HEALTHY, INT8, DEADLY = (str(demo_models.path(name)) for name in ("healthy", "healthy_int8", "deadly"))


def plain(sent: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent)


@pytest.fixture
def samples(tmp_path: Path) -> str:
    path = tmp_path / "samples.npy"
    np.save(path, np.random.default_rng(0).random((500, 64, 64, 3), dtype=np.float32))
    return str(path)


def test_compare_shows_how_many_of_how_many_samples_are_done(samples: str) -> None:
    code, sent = run_on_terminal("compare", HEALTHY, INT8, "--samples", samples)
    assert code in (0, 1)
    assert re.search(r"comparing .*\d+/500 ", plain(sent))
    assert re.search(r"\d:\d\d", plain(sent))


def test_nothing_is_shown_in_a_pipe_or_with_q(samples: str) -> None:
    assert run("compare", HEALTHY, INT8, "--samples", samples).stderr == ""
    _, sent = run_on_terminal("compare", HEALTHY, INT8, "--samples", samples, "-q")
    assert "comparing" not in sent


def test_no_color_leaves_the_bar_and_takes_the_colours(samples: str) -> None:
    _, sent = run_on_terminal("compare", HEALTHY, INT8, "--samples", samples, NO_COLOR="1")
    assert "/500" in plain(sent)
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", sent)


class _Terminal:
    """A stream that says it is a terminal, and keeps what is written."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...


def a_terminal(monkeypatch: pytest.MonkeyPatch, shown_after_s: float) -> _Terminal:
    """Standard error as a terminal. Not a fixture: pytest sets the streams again before it calls a test."""
    stream = _Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(terminal, "_SHOWN_AFTER_S", shown_after_s)
    return stream


def wait_for(words: str, stream: _Terminal) -> None:
    deadline = time.monotonic() + 300
    while words not in stream.text and time.monotonic() < deadline:
        time.sleep(0.01)


def test_what_is_over_soon_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = a_terminal(monkeypatch, 600)
    with terminal.progress(argparse.Namespace(quiet=False), "working") as tell:
        tell("something")
    assert stream.text == ""


def test_what_says_nothing_is_shown_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = a_terminal(monkeypatch, 0)
    with terminal.progress(argparse.Namespace(quiet=False), "converting"):
        wait_for("converting", stream)
    assert re.search(r"converting\s+0:00:0", plain(stream.text))


def test_names_cannot_write_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = a_terminal(monkeypatch, 0)
    with terminal.progress(argparse.Namespace(quiet=False), "reading") as tell:
        tell("a\x1b]0;x\x07b[red]")
        wait_for("b[red]", stream)
        tell(Step("c\x1b]0;x\x07d[bold]", 1, 2))
        wait_for("d[bold]", stream)
    assert "d[bold]" in stream.text
    assert "1/2" in plain(stream.text)
    assert "\x1b]0" not in stream.text


def test_fit_says_how_many_candidates_there_are() -> None:
    heard: list[str] = []
    outlive.fit(HEALTHY, ram="4MB", cache=False, tell=heard.append)
    steps = [words for words in heard if isinstance(words, Step)]
    assert steps
    assert all(step.steps.total is not None and step.steps < step.steps.total for step in steps)
    assert re.match(r"0 of \d+ tried, 0 fit; ", heard[0])


def test_run_says_which_stage_it_is_in_and_which_call_of_how_many() -> None:
    heard: list[str] = []
    outlive.run(HEALTHY, repeat=3, tell=heard.append)
    assert heard == ["load", "allocate", "set", "invoke", "invoke 2", "invoke 3", "get", "free"]
    counts = [(words.steps, words.steps.total) for words in heard if isinstance(words, Step)]
    assert [count for count in counts if count[1]] == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (
            ("leak", HEALTHY, "--cycle", "invoke", "--repeat", "60000", "--seconds", "4"),
            r"repeating .*\d+/60000 .*\d:\d\d",
        ),
        (("leak", HEALTHY, "--seconds", "3"), r"repeating: load \(1 of 3\): \d+ rounds, .*; at most 3 s +0:"),
        (("run", HEALTHY, "--accelerator", "reference", "--repeat", "500"), r"running .*\d+/500 .*\d:\d\d"),
        (("diagnose", DEADLY), r"diagnosing .*\d+/\d+ .*:"),
    ],
)
def test_what_takes_more_than_a_second_says_how_far_it_is(words: tuple[str, ...], shown: str) -> None:
    _, sent = run_on_terminal(*words)
    assert re.search(shown, plain(sent)), plain(sent)[:2000]


def test_samples_are_counted_before_they_are_read(tmp_path: Path) -> None:
    model = outlive.read(HEALTHY)
    one, many = np.zeros((1, 64, 64, 3), np.float32), np.zeros((7, 64, 64, 3), np.float32)
    np.save(tmp_path / "many.npy", many)
    np.savez(tmp_path / "more.npz", many)
    (tmp_path / "readme.txt").touch()
    counts = {
        str(tmp_path / "many.npy"): 7, str(tmp_path / "more.npz"): 7, str(tmp_path): 14,
        str(tmp_path / "gone.npy"): None,
    }  # fmt: skip
    assert {name: count_samples(name, model) for name in counts} == counts
    assert count_samples(many, model) == 7
    assert count_samples(one, model) == 1
    assert count_samples({"image": many}, model) == 7
    assert count_samples([one, one], model) == 2
    assert count_samples(lambda: iter([one]), model) is None


def test_a_count_is_a_number_and_a_step_a_text() -> None:
    assert Count(3, 5) + 1 == 4
    assert (Count(3, 5).total, Count(3).total) == (5, None)
    assert Step("x", 1, 2) == "x"
