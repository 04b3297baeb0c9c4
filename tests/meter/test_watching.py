"""`outlive.watch()`: the memory of a block of code, with its marks, printed and drawn."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

import outlive
from tests.deaths.restrictions import linux_only

pytestmark = linux_only

MUCH = 60_000_000


def test_marks_peak_and_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with outlive.watch() as memory:
        memory.mark("before")
        # Mapped, so that it goes back to the system whatever holes the heap of a long run has.
        with mmap.mmap(-1, MUCH, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
            for _ in range(MUCH // mmap.PAGESIZE):
                held.write(b"x" * mmap.PAGESIZE)
            memory.mark("held")
    marks = {point.mark: point.bytes for point in memory.timeline.marks}
    assert list(marks) == ["before", "held", "end"]
    assert marks["held"] - marks["before"] > 0.9 * MUCH
    assert marks["end"] < 0.5 * MUCH < memory.peak_bytes
    said = capsys.readouterr().out
    assert "held" in said
    assert "MiB at most" in said or "peak" in said


def test_a_block_that_raises_is_told_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), outlive.watch(quiet=True) as memory:
        raise KeyError("x")
    assert memory.timeline.marks[-1].mark == "raised KeyError"
    assert capsys.readouterr().out == ""


def test_pictures(tmp_path: Path) -> None:
    with outlive.watch(quiet=True) as memory:
        memory.mark("a <b> & c")
    memory.plot(str(tmp_path / "memory.svg"))
    assert "a &lt;b&gt; &amp; c" in (tmp_path / "memory.svg").read_text()
    pytest.importorskip("matplotlib", reason="draws the figure of this test: pip install matplotlib")
    assert memory.plot().axes[0].lines
    with pytest.raises(ValueError, match="svg"):
        memory.plot(str(tmp_path / "memory.doc"))


def test_before_its_end_there_is_no_timeline() -> None:
    with outlive.watch(quiet=True) as memory, pytest.raises(RuntimeError, match="has not ended"):
        _ = memory.timeline
    assert memory.mark("too late") is None
