"""What commands print and write: to a terminal, a pipe, or the file that `--output` names."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from outlive.atomic_files import FilePath, whole_text, write_whole
from outlive.errors import OutliveError
from outlive.names import safe, safe_lines
from outlive.rendering.console import print_parts
from outlive.units import Count, Step

if TYPE_CHECKING:
    from rich.console import RenderableType

# What is over sooner needs no line; longer words would be cut anyway.
_SHOWN_AFTER_S, _MOST_WORDS = 0.7, 80
# Of the bar; and of what stands between its columns, the slash and the time left.
_BAR_WIDTH, _GAPS = 16, 14


class OutputError(Exception):
    """The file named with --output cannot be written."""


def say(line: str) -> None:
    """Print a line; a name in it cannot end it or change the terminal."""
    print(safe(line))


def complain(problem: object) -> None:
    """Say in a line on standard error what is wrong; an error with a finding is drawn, in several."""
    if isinstance(problem, OutliveError) and sys.stderr.isatty():
        from outlive.rendering.finding_text import rich_finding

        print_parts([rich_finding(problem.finding)], sys.stderr)
    elif isinstance(problem, OutliveError):
        complain_lines(str(problem))
    else:
        print(safe(str(problem)), file=sys.stderr)


def complain_lines(text: str) -> None:
    """The same for what has several lines."""
    print(safe_lines(text), file=sys.stderr)


@contextmanager
def writing(path: FilePath) -> Iterator[None]:
    """What cannot be written is an `OutputError` that names the file and the reason."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"cannot write {error.filename or os.fspath(path)}: {error.strerror or error}"
        ) from error


def refuse_to_overwrite(inputs: Sequence[str], *outputs: str | None) -> None:
    """`OutputError` if an output would take the place of one of the inputs."""
    for output in filter(None, outputs):
        if any(os.path.exists(path) and _is_same(path, output) for path in inputs):
            raise OutputError(f"--output {output} would overwrite the model itself")


def _is_same(path: str, output: str) -> bool:
    return os.path.exists(output) and os.path.samefile(path, output)


@contextmanager
def progress(args: argparse.Namespace, what: str = "") -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what is done: with a bar and the time left where there is a total.

    Nothing is shown of what takes less than a second, in a pipe, or with -q.
    """
    if args.quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    bar = _Bar(what)
    starting = threading.Timer(_SHOWN_AFTER_S, bar.start)
    starting.daemon = True
    starting.start()
    try:
        yield bar.show
    finally:
        starting.cancel()
        starting.join()
        bar.stop()


def sample_step(sample: int) -> str:
    """The number of a sample, in words, and out of how many where that is known."""
    return Step(f"sample {sample}", sample, getattr(sample, "total", None))


class _Bar:
    """A line of rich's that changes: words, how many of how many, time so far, time left."""

    def __init__(self, what: str) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._what = what
        # Standard output is not rich's to send elsewhere.
        self._progress = Progress(
            *_timing_columns(),
            console=Console(stderr=True),
            redirect_stdout=False,
            redirect_stderr=False,
            transient=True,
        )
        self._task = self._progress.add_task(what or "reading", total=None, words="")

    def start(self) -> None:
        self._progress.start()

    def stop(self) -> None:
        self._progress.stop()

    def show(self, words: str) -> None:
        """Say what is done now; words that are a `Step` say how far it is."""
        count: Count | None = getattr(words, "steps", None)
        text = safe(words, _MOST_WORDS)
        if count is None or count.total is None or count.total < 2:
            self._progress.columns = _timing_columns()
            self._progress.update(self._task, description=f"{self._what}: {text}" if self._what else text)
            return
        self._progress.columns = _counting_columns()
        described = self._what or "working"
        room = self._progress.console.width - len(described) - 2 * len(str(count.total)) - _BAR_WIDTH - _GAPS
        self._progress.update(
            self._task,
            description=described,
            total=count.total,
            completed=int(count),
            words=text if len(text) <= room else "",
        )


def _timing_columns() -> Any:
    """For what has no total: the words, not as markup, for names may be in them; and the time so far."""
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    return SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()


def _counting_columns() -> Any:
    """For what has a total: a bar and the time left; the words go last, for they may be left out."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    return (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=_BAR_WIDTH),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        TextColumn("{task.fields[words]}", markup=False),
    )


def write_text(args: argparse.Namespace, parts: Iterable[RenderableType]) -> None:
    """Print the parts: in colour to a terminal, plain to a pipe or a file."""
    if args.output is None:
        print_parts(parts, sys.stdout)
        return
    with writing(args.output), whole_text(args.output) as file:
        print_parts(parts, file)


def write_plain(args: argparse.Namespace, text: str) -> None:
    """Print text as it is, or write it to the file that --output names."""
    if args.output is None:
        sys.stdout.write(text)
    else:
        write_file(args.output, text)


def write_file(path: FilePath, data: bytes | str) -> None:
    """Write a file that an option names, whole or not at all; `OutputError` if that fails."""
    with writing(path):
        write_whole(path, data)
