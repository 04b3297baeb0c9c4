"""`outlive scan`: many models, one table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from outlive.cli import exits
from outlive.cli.arguments import option, options_for
from outlive.cli.failures import refusing
from outlive.cli.present import tell
from outlive.cli.signals import ended_like_ctrl_c
from outlive.cli.terminal import OutputError, complain
from outlive.verbs.scan import ScanInterrupted, scan

EXAMPLES = """\
examples:
  outlive scan models/                                       read, check and plan all models below a folder
  outlive scan 'models/**/*.tflite' --device raspberry-pi-pico --device pixel-8 -o fits.html
  outlive scan @list.txt --run --jobs 4 -o results.jsonl     run them too, and diagnose what dies
  outlive scan models/ --run -o results.jsonl --resume       go on after Ctrl-C or a crash
  outlive scan models/ --run -o new.jsonl --against old.jsonl --tolerance-latency 10%
  outlive scan models/ --run --on dask://scheduler:8786 -o results.parquet
A list is a text file with a path on each line (@list.txt, list.txt, or - for standard input). Files have to
be where the machines of a cluster can see them. Models run at the same time only while their planned memory
fits the machine. Known files are not done again (--no-cache does them again).
exit codes: 0 all well, 1 something is wrong with a file (with --against: something got worse, or is wrong
with a new file), 2 usage, or the output cannot be written, 3 a model died or hung, 4 the one thing wrong is
that some do not fit a device, 130 interrupted
"""
_SUFFIXES = (".jsonl", ".csv", ".parquet", ".html")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "paths", "files, folders, patterns, or lists of them", nargs="+", metavar="PATH")
    option(parser, "--device", "does it fit? (several times)", several=True)
    option(parser, "--run", "run each in a worker; diagnose what ends badly")
    option(parser, "--delegates", "try each accelerator on each model")
    option(parser, "--accelerator", "what runs them")
    option(parser, "--repeat", "calls of each run (5)", default=5, metavar="N")
    option(parser, "--seconds", "most for each call (30)", default=30.0)
    words = "what models that run may add, one or several at once (default: what the machine has)"
    option(parser, "--memory", words)
    option(parser, "--select", "only these rules", several=True, metavar="CODES")
    option(parser, "--ignore", "all rules but these", several=True, metavar="CODES")
    where = parser.add_argument_group("where")
    option(where, "--jobs", "models at the same time (default: processors)", metavar="N")
    words = "local (default), dask://HOST:PORT, ray://HOST:PORT; dask://local or ray://local start one"
    option(where, "--on", words, default="local", metavar="ENGINE")
    words = "do known files again, and keep nothing"
    option(where, "--no-cache", words, dest="cache", action="store_false")
    worse = parser.add_argument_group("what got worse?")
    option(worse, "--against", "the rows of an older scan", metavar="OLD.jsonl")
    for name, usual in (("peak", "5%%"), ("latency", "25%%"), ("outputs", "0.1%%")):
        share = "of the range of an output" if name == "outputs" else "of the old value"
        words = f"what is still the same, {share} (default {usual}, or [tool.outlive])"
        option(worse, f"--tolerance-{name}", words, metavar="SHARE", type=_share)
    group = parser.add_argument_group("output")
    words = "the table: .jsonl, .csv, .parquet or .html (several times)"
    option(group, "-o", "--output", words, several=True, metavar="FILE")
    option(group, "--resume", "keep what the output has; do only the rest")
    option(group, "--format", "how to tell what it came to", choices=("text", "json"), default="text")
    option(group, "-v", "--verbose")


def _share(text: str) -> float:
    """A share such as `5%` or `0.05`."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write 5% or 0.05")
    return value


def run(args: argparse.Namespace) -> int:
    """Scan and report; the exit code says the worst that was seen."""
    for output in args.output:
        if not output.endswith(_SUFFIXES):
            raise OutputError(f"--output {output}: say .jsonl, .csv, .parquet or .html")
    try:
        with refusing(args), _progress() as hear, ended_like_ctrl_c():
            found = scan(**options_for(scan, args), tell=hear)
    except ScanInterrupted as end:
        complain(f"outlive scan: {end}")
        return exits.INTERRUPTED
    if not found.tally.files:
        complain("outlive scan: there is no model in what was named")
        return exits.USAGE
    return tell(args, found)  # the files are the tables


@contextmanager
def _progress() -> Iterator[Callable[[Any], None]]:
    """A bar with rate, time left and deaths so far; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield lambda tally: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("scanning"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[deaths]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("scanning", total=None, rate="", deaths="")

        def hear(tally: Any) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{(tally.done - tally.resumed) / elapsed:,.1f} files/s" if elapsed > 0.5 else ""
            deaths = f"{tally.deaths:,} died" if tally.deaths else ""
            bar.update(task, total=tally.files, completed=tally.done, rate=rate, deaths=deaths)

        yield hear
