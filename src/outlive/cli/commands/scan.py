"""`outlive scan`: many models, one table."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlive.cli import exits
from outlive.cli.output import OutputError, complain, write_json, write_text, writing
from outlive.cli.signals import ended_like_ctrl_c
from outlive.keeping import whole_file, write_whole
from outlive.rules.choosing import split_words

if TYPE_CHECKING:
    from outlive.fleet.comparing import Tolerances
    from outlive.fleet.scanning import Scan, Tally

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


def _add_engine(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where")
    group.add_argument("--jobs", type=int, metavar="N", help="models at the same time (default: processors)")
    group.add_argument(
        "--on", default="local", metavar="ENGINE",
        help="local (default), dask://HOST:PORT, ray://HOST:PORT; dask://local or ray://local start one",
    )  # fmt: skip
    group.add_argument("--no-cache", action="store_true", help="do known files again, and keep nothing")


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
    from outlive import verbs

    try:
        journal = _prepare(args)
        with _progress() as tell, ended_like_ctrl_c():
            scan = verbs.scan(
                args.what,
                devices=args.device,
                run=args.run,
                delegates=args.delegates,
                output=journal,
                resume=args.resume,
                against=args.against,
                tolerances=None if args.against is None else _tolerances(args),
                on=args.on,
                jobs=args.jobs,
                cache=not args.no_cache,
                tell=tell,
                **_options(args),
            )
    except (ValueError, OSError) as error:
        complain(f"outlive scan: {error}{_way_on(args, error)}")
        return exits.USAGE
    except KeyboardInterrupt:
        return _interrupted(args)
    if not scan.tally.files:
        complain("outlive scan: there is no model in what was named")
        return exits.USAGE
    _write(args, scan)
    _say(args, scan)
    if args.output and not any(output.endswith(".jsonl") for output in args.output):
        scan.path.unlink(missing_ok=True)  # it was ours alone, and the tables have it all
    return exit_code(scan)


def _way_on(args: argparse.Namespace, error: Exception) -> str:
    """How to go on when rows could not be written any more."""
    from outlive.fleet.journal import JournalError

    if not isinstance(error, JournalError) or not args.output:
        return ""
    return "; what was written before is kept: make room, and go on with --resume"


def _options(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "repeat": args.repeat,
        "seconds": args.seconds,
        "memory": args.memory,
        "accelerator": args.accelerator,
        "select": [word for text in args.select for word in split_words(text)],
        "ignore": [word for text in args.ignore for word in split_words(text)],
    }


def _tolerances(args: argparse.Namespace) -> Tolerances:
    """What the command line says, else what the project says, else what is usual."""
    from outlive.cli.config import find_config
    from outlive.cli.config_values import UnreadableConfig
    from outlive.fleet.comparing import Tolerances

    named = {name: getattr(args, f"tolerance_{name}") for name in ("peak", "latency", "outputs")}
    said = {name: share for name, share in named.items() if share is not None}
    if len(said) == len(named):
        return Tolerances(**said)
    try:
        return Tolerances(**{**find_config(Path.cwd()).tolerances, **said})
    except UnreadableConfig as error:
        words = " and ".join(f"--tolerance-{name}" for name in named)
        raise ValueError(f"{error} (it is not needed with {words})") from error


def _prepare(args: argparse.Namespace) -> Path | None:
    """Where rows are written as they come; OutputError or ValueError before hours are spent for nothing."""
    from outlive.rendering.fleet_tables import needs_parquet

    for output in args.output:
        if not output.endswith(_SUFFIXES):
            raise OutputError(f"--output {output}: say .jsonl, .csv, .parquet or .html")
        if output.endswith(".parquet") and needs_parquet():
            raise OutputError(f"--output {output}: {needs_parquet()}")
        if os.path.isdir(output):
            raise OutputError(f"cannot write {output}: it is a folder")
        if not os.path.isdir(os.path.dirname(output) or "."):
            raise OutputError(f"cannot write {output}: there is no such folder")
    if args.against is not None:
        _check_old(args.against, args.output)
    if args.resume and not args.output:
        raise ValueError("--resume goes on with a file: name it with -o")
    return _journal_path(args.output)


def _check_old(old: str, outputs: list[str]) -> None:
    from outlive.fleet.journal import read_rows

    if any(os.path.exists(one) and os.path.exists(old) and os.path.samefile(one, old) for one in outputs):
        raise ValueError(f"--against {old} is also the output; write the new scan to another file")
    try:
        first = next(read_rows(Path(old)), None)
    except OSError as error:
        raise ValueError(f"--against {old} cannot be read: {error.strerror}") from error
    if first is None:
        raise ValueError(f"--against {old} holds no row of a scan; give a .jsonl file that a scan wrote")


def _journal_path(outputs: list[str]) -> Path | None:
    """The first .jsonl file; for other tables a file beside them, which is gone at the end."""
    if not outputs:
        return None
    rows = [output for output in outputs if output.endswith(".jsonl")]
    return Path(rows[0]) if rows else Path(f"{outputs[0]}.partial.jsonl")


def _write(args: argparse.Namespace, scan: Scan) -> None:
    """Write the tables that were asked for."""
    for output in args.output:
        with writing(output):
            _write_one(Path(output), scan, args.output)


def _write_one(output: Path, scan: Scan, outputs: list[str]) -> None:
    from outlive.rendering import fleet_tables

    if output.suffix == ".jsonl":
        if not (output.exists() and output.samefile(scan.path)):
            import shutil

            with scan.path.open("rb") as rows, whole_file(output) as file:
                shutil.copyfileobj(rows, file)
        return
    if output.suffix == ".html":
        from outlive.rendering.pages.scan import scan_html

        write_whole(output, scan_html(scan, outputs))
        return
    accelerators = fleet_tables.accelerators_in(scan) if scan.order.delegates else ()
    layout = fleet_tables.columns([device.name for device in scan.order.devices], accelerators)
    write = fleet_tables.write_csv if output.suffix == ".csv" else fleet_tables.write_parquet
    write(scan, output, layout)


def _say(args: argparse.Namespace, scan: Scan) -> None:
    told = argparse.Namespace(output=None)  # the files are the tables; what is said goes to standard output
    if args.format == "json":
        from outlive.rendering.media.json import document_of

        scan = replace(scan, written=tuple(args.output), with_rows=not args.output)
        write_json(told, document_of(scan))
    else:
        from outlive.rendering.fleet_text import scan_text

        write_text(told, scan_text(scan, args.output))


def exit_code(scan: Scan) -> int:
    """The worst that was seen; against an older scan only whether something got worse."""
    tally = scan.tally
    if scan.comparison is not None:
        return exits.FINDINGS if scan.comparison.worse else exits.CLEAN
    if tally.deaths:
        return exits.DIED
    bad = ("broken", "unreadable", "refused", "too large", "lost", "failed")
    if tally.errors or any(tally.outcomes[name] for name in bad):
        return exits.FINDINGS
    return exits.DOES_NOT_FIT if tally.too_big else exits.CLEAN


def _interrupted(args: argparse.Namespace) -> int:
    """Ctrl-C: what is done is written, in every form that was asked for."""
    from outlive.fleet.scanning import partial_scan

    journal = _journal_path(args.output)
    if journal is None or not journal.exists():
        complain("outlive scan: interrupted; nothing is kept without -o")
        return exits.INTERRUPTED
    scan = partial_scan(journal)
    _write(args, scan)
    words = f"{scan.tally.done:,} rows are in {journal}; --resume goes on from there"
    complain(f"outlive scan: interrupted; {words}")
    return exits.INTERRUPTED


@contextmanager
def _progress() -> Iterator[Callable[[Tally], None]]:
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

        def tell(tally: Tally) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{(tally.done - tally.resumed) / elapsed:,.1f} files/s" if elapsed > 0.5 else ""
            deaths = f"{tally.deaths:,} died" if tally.deaths else ""
            bar.update(task, total=tally.files, completed=tally.done, rate=rate, deaths=deaths)

        yield tell
