"""`outlive demo`: a tour of what outlive does, on models that ship with it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option
from outlive.cli.present import present
from outlive.cli.terminal import complain, say, write_text
from outlive.errors import OutliveError
from outlive.finding import shell_path
from outlive.rendering import page_of
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.media.text import draw_text
from outlive.verbs.check import check
from outlive.verbs.compare import compare
from outlive.verbs.delegates import delegates
from outlive.verbs.demo import copy_demo_models, demo_path, demo_paths
from outlive.verbs.diagnose import diagnose
from outlive.verbs.fit import fit
from outlive.verbs.guard import guard
from outlive.verbs.leak import leak
from outlive.verbs.plan import plan
from outlive.verbs.read import read, read_files
from outlive.verbs.report import report
from outlive.verbs.run import run as run_model

EXAMPLES = """\
examples:
  outlive demo                           the tour; needs no network and no model of yours
  outlive demo --all --report demo.html  the whole tour, and a page to look at
  outlive demo --copy here               copy the demo models to play with them
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "--copy", "only copy the demo models to FOLDER", metavar="FOLDER")
    option(parser, "--all", "the whole tour, which takes some seconds more")
    option(parser, "--report", "leave a report to open in a browser", metavar="FILE.html")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the tour, or copy the models."""
    if args.copy is not None:
        return _copy(args.copy)
    if args.format == "json":
        present(args, read_files(demo_paths()))
    else:
        write_text(args, _tour(args.all, args.report))
    return exits.CLEAN


def _copy(folder: str) -> int:
    try:
        for path, what in copy_demo_models(folder):
            say(f"{path}  {what}")
    except OSError as error:
        complain(f"outlive demo: cannot copy to {folder}: {error.strerror}")
        return exits.USAGE
    return exits.CLEAN


def _tour(every: bool, report: str | None) -> Iterator[RenderableType]:
    stops = (*_STOPS, *_MORE_STOPS) if every else _STOPS
    for number, (title, command, part) in enumerate(stops, 1):
        yield Text.assemble((f"{number}. {title}\n", "bold"), (f"   {command}\n" if command else "", "green"))
        yield from draw_text(page_of(part()))
        yield ""
    if every:
        title = "Any Python function, with a limit"
        yield Text.assemble(
            (f"{len(stops) + 1}. {title}\n", "bold"), ("   guard(function, memory='64MB')\n", "green")
        )
        yield from _guarded()
        yield ""
    if report is not None:
        yield from _report(report, len(stops) + (2 if every else 1))
    if not every:
        yield Text.assemble(
            "The whole tour, in less than a minute: ", ("outlive demo --all --report demo.html", "green")
        )
    yield Text.assemble("Try them yourself: ", ("outlive demo --copy here", "green"))


def _half_checked() -> Any:
    data = Path(demo_path("healthy")).read_bytes()
    return check(data[: len(data) // 2], config=False)


def _guarded() -> Iterator[RenderableType]:
    try:
        size = guard(_hungry, memory="64MB", seconds=30.0)()
        yield Text(f"it came back with {size:,} bytes")
    except OutliveError as error:
        yield rich_finding(error.finding)
    except MemoryError:
        yield Text("It wanted 1 GB, and got a MemoryError at 64 MB; this program goes on.")


def _hungry() -> int:
    """A function that takes a gigabyte."""
    return sum(len(part) for part in [bytes(8_000_000) for _ in range(125)])


def _of(verb: Callable[..., Any], *models: str, **options: Any) -> Callable[[], Any]:
    """The verb on demo models, when it is its turn."""
    return lambda: verb(*map(demo_path, models), **options)


# What is shown, the command for it, and what gives the result.
Stop = tuple[str, str, Callable[[], Any]]
_STOPS: tuple[Stop, ...] = (
    ("Models that ship with outlive", "outlive read *.tflite", lambda: read_files(demo_paths())),
    ("What is in a healthy one", "outlive read healthy.tflite", _of(read, "healthy")),
    (
        "How much memory it will need, before it runs",
        "outlive plan healthy.tflite",
        _of(plan, "healthy"),
    ),
    (
        "A small file that needs much",
        "outlive plan too_big.tflite --accelerator builtin --ram 64MB",
        _of(plan, "too_big", accelerator="builtin", ram="64MB"),
    ),
    (
        "What a wasteful one could do without",
        "outlive check wasteful.tflite",
        _of(check, "wasteful", config=False),
    ),
    ("A file that lies: the healthy model, cut in half", "", _half_checked),
    (
        "A model that kills whoever runs it, before it runs",
        "outlive check deadly.tflite",
        _of(check, "deadly", config=False),
    ),
    ("The same model, run: it dies, we do not", "outlive run deadly.tflite", _of(run_model, "deadly")),
)
_MORE_STOPS: tuple[Stop, ...] = (
    ("Why it dies, and what works", "outlive diagnose deadly.tflite", _of(diagnose, "deadly")),
    (
        "What quantization changed",
        "outlive compare healthy.tflite healthy_int8.tflite",
        _of(compare, "healthy", "healthy_int8"),
    ),
    (
        "What an accelerator takes",
        "outlive delegates healthy.tflite --only xnnpack",
        _of(delegates, "healthy", only=("xnnpack",)),
    ),
    (
        "Does it leak?",
        "outlive leak healthy.tflite --cycle invoke --repeat 300",
        _of(leak, "healthy", cycle="invoke", repeat=300),
    ),
    (
        "What would fit into 400 KB?",
        "outlive fit healthy.tflite --ram 400KB",
        _of(fit, "healthy", ram="400KB"),
    ),
)


def _report(path: str, number: int) -> Iterator[RenderableType]:
    """The page of the model that dies."""
    title = f"{number}. All of it on one page, to look at and to send\n"
    yield Text.assemble((title, "bold"), (f"   outlive report deadly.tflite -o {shell_path(path)}", "green"))
    report(demo_path("deadly")).save(path)
    yield Text.assemble("   written; open it in a browser: ", (path, "bold"), "\n")
