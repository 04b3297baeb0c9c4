"""`outlive demo`: a tour of what outlive does, on models that ship with it."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from outlive.rendering.pages.check import check_lines
from outlive.verbs.check import check
from outlive.verbs.compare import compare
from outlive.verbs.delegates import delegates
from outlive.verbs.demo import copy_demo_models, demo_paths
from outlive.verbs.diagnose import diagnose
from outlive.verbs.fit import fit
from outlive.verbs.guard import guard
from outlive.verbs.leak import leak
from outlive.verbs.plan import plan
from outlive.verbs.read import read, read_files
from outlive.verbs.report import report
from outlive.verbs.run import run as run_model

EXAMPLES = """\
Examples:
  outlive demo                           take the tour; it needs no network and no model
  outlive demo --all --report demo.html  take the whole tour, and write a report
  outlive demo --copy .                  copy the demo models to this folder
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "--copy", "copy the demo models to FOLDER, and show no tour", metavar="FOLDER")
    option(parser, "--all", "take the whole tour, about a minute")
    option(parser, "--report", "write a report to open in a browser", metavar="FILE.html")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the tour, or copy the models."""
    if args.copy is not None:
        return _copy(args.copy)
    if args.format == "json":
        present(args, read_files(demo_paths()))
        return exits.CLEAN
    page = None if args.report is None else os.path.abspath(args.report)
    args.output = None if args.output is None else os.path.abspath(args.output)
    with _models_here():
        write_text(args, _tour(args.all, page))
    return exits.CLEAN


@contextmanager
def _models_here() -> Iterator[None]:
    """A folder with copies of the models as the working directory: the tour shows what users will see."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="outlive-demo-") as folder:
        list(copy_demo_models(folder))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


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
        yield Text.assemble((f"{number}. {title}\n", "bold"), (f"   $ {command}\n", "green"))
        yield from part()
        yield ""
    if report is not None:
        yield from _report(report, len(stops) + 1)
    if not every:
        whole = "outlive demo --all --report demo.html"
        yield Text.assemble("The whole tour, in less than a minute: ", (whole, "green"))
    yield Text.assemble("Copy these models to try them yourself: ", ("outlive demo --copy .", "green"))


def _guarded() -> Iterator[RenderableType]:
    try:
        size = guard(_hungry, memory="64MB", seconds=30.0)()
        yield Text(f"It returned {size:,} bytes.")
    except OutliveError as error:
        yield rich_finding(error.finding)
    except MemoryError:
        yield Text("The function asked for 1 GB and got a MemoryError at 64 MB. This program goes on.")


def _hungry() -> int:
    """A function that takes a gigabyte."""
    return sum(len(part) for part in [bytes(8_000_000) for _ in range(125)])


def _half_checked() -> Iterator[RenderableType]:
    data = Path("healthy.tflite").read_bytes()
    Path("half.tflite").write_bytes(data[: len(data) // 2])
    return _of(check, "half.tflite", config=False)()


Part = Callable[[], Iterator[RenderableType]]


def _of(verb: Callable[..., Any], *models: str, **options: Any) -> Part:
    """What the command shows of a verb's result, when it is its turn."""
    return lambda: draw_text(page_of(verb(*models, **options)))


# The question, the command for it, and what it shows.
Stop = tuple[str, str, Part]
_STOPS: tuple[Stop, ...] = (
    ("What is wrong with these models?", "outlive check .", lambda: check_lines(check(".", config=False))),
    (
        "Does a model fit into 64 MB?",
        "outlive plan too_big.tflite --ram 64MB",
        _of(plan, "too_big.tflite", ram="64MB"),
    ),
    (
        "Does it run? It crashes, and your program survives",
        "outlive run deadly.tflite",
        _of(run_model, "deadly.tflite"),
    ),
    ("Why does it crash?", "outlive diagnose deadly.tflite", _of(diagnose, "deadly.tflite")),
)
_MORE_STOPS: tuple[Stop, ...] = (
    ("What is in a model?", "outlive read healthy.tflite", _of(read, "healthy.tflite")),
    ("How much memory does it need?", "outlive plan healthy.tflite", _of(plan, "healthy.tflite")),
    ("How fast is it?", "outlive run healthy.tflite", _of(run_model, "healthy.tflite")),
    ("What is wrong with half a download?", "outlive check half.tflite", _half_checked),
    (
        "What did quantization change?",
        "outlive compare healthy.tflite healthy_int8.tflite",
        _of(compare, "healthy.tflite", "healthy_int8.tflite"),
    ),
    (
        "Which operators does an accelerator take?",
        "outlive delegates healthy.tflite --only xnnpack",
        _of(delegates, "healthy.tflite", only=("xnnpack",)),
    ),
    (
        "Does it leak?",
        "outlive leak healthy.tflite --cycle invoke --repeat 300",
        _of(leak, "healthy.tflite", cycle="invoke", repeat=300),
    ),
    (
        "How do I make it fit into 400 KB?",
        "outlive fit healthy.tflite --ram 400KB",
        _of(fit, "healthy.tflite", ram="400KB"),
    ),
    ("Can I limit any Python function?", "outlive.guard(function, memory='64MB')()", _guarded),
)


def _report(path: str, number: int) -> Iterator[RenderableType]:
    """The page of the model that dies."""
    command = f"   $ outlive report deadly.tflite -o {shell_path(path)}\n"
    yield Text.assemble((f"{number}. How do I share all of this?\n", "bold"), (command, "green"))
    report("deadly.tflite").save(path)
    yield Text.assemble("Open this page in a browser: ", (path, "bold"), "\n")
