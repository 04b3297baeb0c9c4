"""`outlive scan`: many models, one table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import OutputError, complain
from outlive.cli.present import present
from outlive.cli.signals import ended_like_ctrl_c
from outlive.verbs.scan import ScanInterrupted

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
    parser.add_argument("what", nargs="+", metavar="PATH", help="files, folders, patterns, or lists of them")
    parser.add_argument(
        "--device", action="append", default=[], metavar="NAME", help="does it fit? (several times)"
    )
    parser.add_argument("--run", action="store_true", help="run each in a worker; diagnose what ends badly")
    parser.add_argument("--delegates", action="store_true", help="try each accelerator on each model")
    parser.add_argument(
        "--accelerator", choices=("cpu", "builtin", "reference"), default="cpu", help="what runs them"
    )
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="calls of each run (5)")
    parser.add_argument("--seconds", type=float, default=30.0, metavar="S", help="most for each call (30)")
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="what models that run may add, one or several at once (default: what the machine has)",
    )
    parser.add_argument("--select", action="append", default=[], metavar="CODES", help="only these rules")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODES", help="all rules but these")
    _add_engine(parser)
    _add_comparison(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", action="append", default=[], metavar="FILE",
        help="the table: .jsonl, .csv, .parquet or .html (several times)",
    )  # fmt: skip
    group.add_argument("--resume", action="store_true", help="keep what the output has; do only the rest")
    group.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to tell what it came to"
    )
    group.add_argument("-v", "--verbose", action="count", default=0, help="show more; -vv shows everything")


def _add_engine(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where")
    group.add_argument("--jobs", type=int, metavar="N", help="models at the same time (default: processors)")
    group.add_argument(
        "--on", default="local", metavar="ENGINE",
        help="local (default), dask://HOST:PORT, ray://HOST:PORT; dask://local or ray://local start one",
    )  # fmt: skip
    group.add_argument(
        "--no-cache", dest="cache", action="store_false", help="do known files again, and keep nothing"
    )


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what got worse?")
    group.add_argument("--against", metavar="OLD.jsonl", help="the rows of an older scan")
    for name, usual in (("peak", "5%"), ("latency", "25%"), ("outputs", "0.1%")):
        told = "of the range of an output" if name == "outputs" else "of the old value"
        group.add_argument(
            f"--tolerance-{name}", metavar="SHARE", type=_share,
            help=f"what is still the same, {told} (default {usual.replace('%', '%%')}, or [tool.outlive])",
        )  # fmt: skip


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
        with _progress() as tell, ended_like_ctrl_c():
            scan = verbs.scan(
                args.what,
                device=args.device,
                run=args.run,
                delegates=args.delegates,
                accelerator=args.accelerator,
                repeat=args.repeat,
                seconds=args.seconds,
                memory=args.memory,
                select=args.select,
                ignore=args.ignore,
                jobs=args.jobs,
                on=args.on,
                cache=args.cache,
                against=args.against,
                tolerance_peak=args.tolerance_peak,
                tolerance_latency=args.tolerance_latency,
                tolerance_outputs=args.tolerance_outputs,
                output=args.output,
                resume=args.resume,
                tell=tell,
            )
    except (ValueError, OSError) as error:
        complain(f"outlive scan: {error}")
        return exits.USAGE
    except ScanInterrupted as end:
        complain(f"outlive scan: {end}")
        return exits.INTERRUPTED
    if not scan.tally.files:
        complain("outlive scan: there is no model in what was named")
        return exits.USAGE
    # The files are the tables; what is said goes to standard output.
    return present(argparse.Namespace(format=args.format, output=None, verbose=args.verbose), scan)


@contextmanager
def _progress() -> Iterator[Callable[[Any], None]]:
    """A bar with rate, time left and deaths so far; nothing where nobody watches."""
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

        def tell(tally: Any) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{(tally.done - tally.resumed) / elapsed:,.1f} files/s" if elapsed > 0.5 else ""
            deaths = f"{tally.deaths:,} died" if tally.deaths else ""
            bar.update(task, total=tally.files, completed=tally.done, rate=rate, deaths=deaths)

        yield tell
