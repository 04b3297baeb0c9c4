"""`outlive demo`: a tour of what outlive does, on models that ship with it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from outlive import demo_models, verbs
from outlive.cli import exits
from outlive.cli.output import add_output_options, complain, say, write_json, write_text
from outlive.finding import shell_path
from outlive.keeping import write_whole
from outlive.rules.catalogue import assess
from outlive.verbs.read import reading_of

if TYPE_CHECKING:
    from rich.console import RenderableType

EXAMPLES = """\
examples:
  outlive demo                           the tour; needs no network and no model of yours
  outlive demo --all --report demo.html  the whole tour, and a page to look at
  outlive demo --copy here               copy the demo models to play with them
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("--copy", metavar="FOLDER", help="only copy the demo models to FOLDER")
    parser.add_argument("--all", action="store_true", help="the whole tour, which takes some seconds more")
    parser.add_argument("--report", metavar="FILE.html", help="leave a report to open in a browser")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the tour, or copy the models."""
    if args.copy is not None:
        return _copy(Path(args.copy))
    if args.format == "json":
        from outlive.rendering.model_json import reading_json, readings_json

        readings = [reading_of(demo_models.path(model.name)) for model in demo_models.DEMO_MODELS]
        write_json(args, readings_json([reading_json(reading, assess(reading)) for reading in readings]))
    else:
        write_text(args, _tour(args.all, args.report))
    return exits.CLEAN


def _copy(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for model in demo_models.DEMO_MODELS:
            write_whole(folder / model.file, demo_models.path(model.name).read_bytes())
            say(f"{folder / model.file}  {model.what}")
    except OSError as error:
        complain(f"outlive demo: cannot copy to {folder}: {error.strerror}")
        return exits.USAGE
    return exits.CLEAN


def _tour(every: bool, report: str | None) -> Iterator[RenderableType]:
    from rich.text import Text

    stops = (*_STOPS, *_MORE_STOPS) if every else _STOPS
    for number, (title, command, part) in enumerate(stops, 1):
        yield Text.assemble((f"{number}. {title}\n", "bold"), (f"   {command}\n" if command else "", "green"))
        yield from part()
        yield ""
    if report is not None:
        yield from _report(report, len(stops) + 1)
    if not every:
        yield Text.assemble(
            "The whole tour, in less than a minute: ", ("outlive demo --all --report demo.html", "green")
        )
    yield Text.assemble("Try them yourself: ", ("outlive demo --copy here", "green"))


def _path(name: str) -> str:
    return str(demo_models.path(name))


def _listed() -> Iterator[RenderableType]:
    from outlive.rendering import page_of
    from outlive.rendering.media.text import draw_text
    from outlive.verbs.read import read_files

    yield from draw_text(page_of(read_files([_path(model.name) for model in demo_models.DEMO_MODELS])))


def _read() -> Iterator[RenderableType]:
    from outlive.rendering import page_of
    from outlive.rendering.media.text import draw_text

    yield from draw_text(page_of(verbs.read(_path("healthy"))))


def _planned() -> Iterator[RenderableType]:
    yield from _plan(_path("healthy"), None)


def _too_big() -> Iterator[RenderableType]:
    yield from _plan(_path("too_big"), 64_000_000)


def _wasteful() -> Iterator[RenderableType]:
    from outlive.rendering.finding_text import rich_finding

    yield from (rich_finding(finding) for finding in verbs.check(_path("wasteful"), config=False))


def _lying() -> Iterator[RenderableType]:
    from outlive.rendering.finding_text import rich_finding

    found = verbs.check(_half(Path(_path("healthy"))), config=False)
    yield from (rich_finding(finding) for finding in found.errors)


def _foretold() -> Iterator[RenderableType]:
    from outlive.rendering.finding_text import rich_finding

    yield from (rich_finding(finding) for finding in verbs.check(_path("deadly"), config=False).errors)


def _dies() -> Iterator[RenderableType]:
    from outlive.rendering.flight_text import flight_text

    flight = verbs.run(_path("deadly"))
    yield from flight_text(flight, _path("deadly"), flight.findings if flight.died else ())


def _diagnosed() -> Iterator[RenderableType]:
    from outlive.rendering.diagnosis_text import diagnosis_text

    yield from diagnosis_text(verbs.diagnose(_path("deadly")))


def _compared() -> Iterator[RenderableType]:
    from outlive.rendering.drift_text import drift_text

    reference, candidate = _path("healthy"), _path("healthy_int8")
    yield from drift_text(verbs.compare(reference, candidate), reference, candidate, 5)


def _accelerated() -> Iterator[RenderableType]:
    from outlive.rendering.coverage_text import coverage_text
    from outlive.rendering.coverage_verdict import judge_coverage

    coverage = verbs.probe(_path("healthy"), only=("xnnpack",))
    yield from coverage_text(coverage, judge_coverage(coverage).findings)


def _repeated() -> Iterator[RenderableType]:
    from outlive.rendering.leak_text import leak_text

    yield from leak_text(verbs.leak(_path("healthy"), "invoke", 300))


def _fitted() -> Iterator[RenderableType]:
    from outlive.rendering.fit_text import fit_text

    yield from fit_text(verbs.fit(_path("healthy"), ram="400KB"))


def _guarded() -> Iterator[RenderableType]:
    from rich.text import Text

    from outlive.errors import OutliveError
    from outlive.rendering.finding_text import rich_finding

    try:
        size = verbs.guard(_hungry, memory="64MB", seconds=30.0)()
        yield Text(f"it came back with {size:,} bytes")
    except OutliveError as error:
        yield rich_finding(error.finding)
    except MemoryError:
        yield Text("It wanted 1 GB, and got a MemoryError at 64 MB; this program goes on.")


def _hungry() -> int:
    """A function that takes a gigabyte."""
    return sum(len(part) for part in [bytes(8_000_000) for _ in range(125)])


_STOPS: tuple[tuple[str, str, Callable[[], Iterator[RenderableType]]], ...] = (
    ("Models that ship with outlive", "outlive read *.tflite", _listed),
    ("What is in a healthy one", "outlive read healthy.tflite", _read),
    ("How much memory it will need, before it runs", "outlive plan healthy.tflite", _planned),
    (
        "A small file that needs much",
        "outlive plan too_big.tflite --accelerator builtin --ram 64MB",
        _too_big,
    ),
    ("What a wasteful one could do without", "outlive read wasteful.tflite", _wasteful),
    ("A file that lies: the healthy model, cut in half", "", _lying),
    ("A model that kills whoever runs it, before it runs", "outlive check deadly.tflite", _foretold),
    ("The same model, run: it dies, we do not", "outlive run deadly.tflite", _dies),
)
_MORE_STOPS: tuple[tuple[str, str, Callable[[], Iterator[RenderableType]]], ...] = (
    ("Why it dies, and what works", "outlive diagnose deadly.tflite", _diagnosed),
    ("What quantization changed", "outlive compare healthy.tflite healthy_int8.tflite", _compared),
    ("What an accelerator takes", "outlive delegates healthy.tflite --only xnnpack", _accelerated),
    ("Does it leak?", "outlive leak healthy.tflite --cycle invoke --repeat 300", _repeated),
    ("What would fit into 400 KB?", "outlive fit healthy.tflite --ram 400KB", _fitted),
    ("Any Python function, with a limit", "outlive.guard(function, memory='64MB')", _guarded),
)


def _report(path: str, number: int) -> Iterator[RenderableType]:
    """The page of the model that dies."""
    from rich.text import Text

    title = f"{number}. All of it on one page, to look at and to send\n"
    yield Text.assemble((title, "bold"), (f"   outlive report deadly.tflite -o {shell_path(path)}", "green"))
    verbs.report(_path("deadly")).save(path)
    yield Text.assemble("   written; open it in a browser: ", (path, "bold"), "\n")


def _plan(path: str, ram_bytes: int | None) -> Iterator[RenderableType]:
    from outlive.rendering import page_of
    from outlive.rendering.media.text import draw_text

    accelerator = "cpu" if ram_bytes is None else "builtin"
    yield from draw_text(page_of(verbs.plan(path, accelerator, ram=ram_bytes)))


def _half(path: Path) -> bytes:
    data = path.read_bytes()
    return data[: len(data) // 2]
