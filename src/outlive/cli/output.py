"""What all commands share: `--format`, `--output`, and getting text where the user wants it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from outlive.errors import OutliveError
from outlive.keeping import FilePath, whole_text, write_whole
from outlive.names import safe, safe_lines
from outlive.rendering.console import print_parts
from outlive.rendering.media.json import dump

if TYPE_CHECKING:
    from rich.console import RenderableType


# Below this many files even a slow disk answers within a second.
MANY = 20
# What each format is for; every command has the first two, and says which others it has.
FORMATS = {
    "text": "text for people (default)",
    "json": "json for programs",
    "html": "html to look at and to send",
    "csv": "csv for spreadsheets",
    "trace": "trace for Perfetto and chrome://tracing",
    "overlay": "overlay to lay over the graph in Model Explorer",
    "sarif": "sarif 2.1.0",
    "github": "github workflow annotations",
    "gitlab": "gitlab code quality",
    "junit": "junit xml",
    "markdown": "markdown for a job summary",
}


class OutputError(Exception):
    """The file named with --output cannot be written."""


def say(line: str) -> None:
    """Print a line; a name in it cannot end it or change the terminal."""
    print(safe(line))


def complain(problem: object) -> None:
    """Say in a line on standard error what is wrong; an error with a finding is drawn, in several."""
    if isinstance(problem, OutliveError):
        complain_lines(str(problem))
    else:
        print(safe(str(problem)), file=sys.stderr)


def complain_lines(text: str) -> None:
    """The same for what has several lines."""
    print(safe_lines(text), file=sys.stderr)


def add_output_options(parser: argparse.ArgumentParser, *more: str) -> None:
    """Give a command `--format` and `--output`; `more` are formats of FORMATS beside text and json."""
    group = parser.add_argument_group("output")
    choices = ("text", "json", *more)
    words = ", ".join(FORMATS[name] for name in choices)
    group.add_argument("--format", choices=choices, default="text", help=words)
    group.add_argument("--output", metavar="FILE", help="write to FILE instead of standard output")


@contextmanager
def writing(path: FilePath) -> Iterator[None]:
    """What cannot be written is an `OutputError` that names the file and the reason."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"cannot write {error.filename or os.fspath(path)}: {error.strerror or error}"
        ) from error


def words_of(error: Exception, *outputs: str | None) -> str:
    """What went wrong; of a file that a verb was to write, that it cannot be written, and why."""
    named = str(getattr(error, "filename", "") or "")
    if isinstance(error, OSError) and any(named.startswith(output) for output in outputs if output and named):
        return f"cannot write {named}: {error.strerror or error}"
    return str(error)


def refuse_to_overwrite(output: str | None, inputs: Sequence[str]) -> None:
    """`OutputError` if the output would take the place of one of the inputs."""
    if output is None or not os.path.exists(output):
        return
    for path in inputs:
        if os.path.exists(path) and os.path.samefile(path, output):
            raise OutputError(f"--output {output} would overwrite the model itself")


@contextmanager
def progress(what: str = "") -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what is done, and how far it is; nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(what or "reading") as status:
        # Not as a string, in which a name could be taken for markup.
        yield lambda words: status.update(Text(safe(f"{what}: {words}" if what else words)))


def track(items: Sequence[str], what: str) -> Iterable[str]:
    """The items, with a progress bar on standard error if somebody watches and there are many."""
    if len(items) < MANY or not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, what, console=Console(stderr=True), transient=True)


def write_text(args: argparse.Namespace, parts: Iterable[RenderableType]) -> None:
    """Print the parts in colour, or plain where nobody sees colours."""
    if args.output is None:
        print_parts(parts, sys.stdout)
        return
    with writing(args.output), whole_text(args.output) as file:
        print_parts(parts, file)


def write_json(args: argparse.Namespace, document: object) -> None:
    """Print the document, or write it to the file that --output names."""
    write_plain(args, dump(document) + "\n")


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
