"""`outlive scan`: many models, one table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from outlive.cli import exits
from outlive.cli.arguments import add_telling_options, option, options_for
from outlive.cli.failures import refusing
from outlive.cli.present import tell
from outlive.cli.signals import ended_like_ctrl_c
from outlive.cli.terminal import OutputError, complain
from outlive.verbs.scan import ScanInterrupted, scan

EXAMPLES = """\
Examples:
  outlive scan .                                             read, check and plan all models in a folder
  outlive scan . --device raspberry-pi-pico --device pixel-8 -o fits.html
  outlive scan . --run -o results.jsonl                      run them too, and diagnose those that die
  outlive scan . --run -o results.jsonl --resume             continue after Ctrl-C or a crash
  outlive scan . --run -o new.jsonl --against results.jsonl --tolerance-latency 10%   what got worse?
  outlive scan @list.txt --jobs 4 -o results.csv             the paths in a text file
  outlive scan models/ --run --on dask://scheduler:8786 -o results.parquet

A list is a text file with one path on each line: @list.txt, list.txt, or - for standard input. The machines
of a cluster must see the same paths. Models run at the same time only if their planned memory fits. Results
are cached by file; --no-cache ignores the cache.

Exit codes: 0 all well, 1 an error in a file, 2 usage, 3 a model died or hung, 4 the only problem is that some
models do not fit a device, 130 interrupted. With --against, 1 says that something got worse, or that a new
file has an error.
"""
_SUFFIXES = (".jsonl", ".csv", ".parquet", ".html")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "paths", "models, folders, patterns or lists", nargs="+", metavar="PATH")
    option(parser, "--device", "check whether the models fit this device (repeatable)", several=True)
    option(parser, "--run", "run each model in a worker, and diagnose those that die")
    option(parser, "--delegates", "try each accelerator with each model")
    option(parser, "--accelerator", "the kernels to use (default cpu: XNNPACK)")
    option(parser, "--repeat", "call each model N times (default 5)", default=5, metavar="N")
    option(parser, "--seconds", "the most seconds for each call (default 30)", default=30.0)
    words = "the most memory for all running models together (default: the memory of the machine)"
    option(parser, "--memory", words)
    option(parser, "--select", "use only these rules (repeatable)", several=True, metavar="CODES")
    option(parser, "--ignore", "leave out these rules (repeatable)", several=True, metavar="CODES")
    where = parser.add_argument_group("Engine")
    option(
        where, "--jobs", "models to process at the same time (default: the number of processors)", metavar="N"
    )
    words = (
        "local (default), dask://HOST:PORT or ray://HOST:PORT; dask://local and ray://local start a cluster"
    )
    option(where, "--on", words, default="local", metavar="ENGINE")
    words = "use no earlier results, and keep none"
    option(where, "--no-cache", words, dest="cache", action="store_false")
    worse = parser.add_argument_group("Comparison with an older scan")
    option(worse, "--against", "say what got worse since this scan", metavar="OLD.jsonl")
    for name, usual in (("peak", "5%%"), ("latency", "25%%"), ("outputs", "0.1%%")):
        share = "as a share of the range of an output" if name == "outputs" else "as a share of the old value"
        words = f"allow this change, {share} (default {usual}, or [tool.outlive])"
        option(worse, f"--tolerance-{name}", words, metavar="SHARE", type=_share)
    words = "write the table as .jsonl, .csv, .parquet or .html (repeatable)"
    option(parser, "-o", "--output", words, several=True, metavar="FILE")
    option(parser, "--resume", "keep the rows in the output, and do only the rest")
    add_telling_options(parser)


def _share(text: str) -> float:
    """A share such as `5%` or `0.05`."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a share; write 5% or 0.05")
    return value


def run(args: argparse.Namespace) -> int:
    """Scan and report; the exit code says the worst that was seen."""
    for output in args.output:
        if not output.endswith(_SUFFIXES):
            raise OutputError(f"--output {output}: the name must end with .jsonl, .csv, .parquet or .html")
    try:
        with refusing(args), _progress(args) as hear, ended_like_ctrl_c():
            found = scan(**options_for(scan, args), tell=hear)
    except ScanInterrupted as end:
        complain(f"outlive scan: {end}")
        return exits.INTERRUPTED
    if not found.tally.files:
        complain("outlive scan: no model found")
        return exits.USAGE
    return tell(args, found)  # the files are the tables


@contextmanager
def _progress(args: argparse.Namespace) -> Iterator[Callable[[Any], None]]:
    """A bar with rate, time left and deaths so far; nothing where standard error is no terminal."""
    if args.quiet or not sys.stderr.isatty():
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
