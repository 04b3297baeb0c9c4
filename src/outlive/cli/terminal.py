"""What commands print and write: to a terminal, a pipe, or the file that `--output` names."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from outlive.atomic_files import FilePath, whole_text, write_whole
from outlive.errors import OutliveError
from outlive.names import safe, safe_lines
from outlive.rendering.console import print_parts

if TYPE_CHECKING:
    from rich.console import RenderableType


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
def progress(what: str = "") -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what is done, and how far it is; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(what or "reading") as status:
        # Not as a string, in which a name could be taken for markup.
        yield lambda words: status.update(Text(safe(f"{what}: {words}" if what else words)))


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
