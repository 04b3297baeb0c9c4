"""`outlive demo`: a tour of what outlive does, on models that ship with it."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from outlive import api, demo_models
from outlive.cli import exits
from outlive.cli.output import add_output_options, write_json, write_text
from outlive.model import read_source
from outlive.rules.catalogue import assess

if TYPE_CHECKING:
    from rich.console import RenderableType

SUMMARY = "take a tour on models that ship with outlive"
EXAMPLES = """\
examples:
  outlive demo                           the tour; needs no network and no model of yours
  outlive demo --copy here               copy the demo models to play with them
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("--copy", metavar="FOLDER", help="only copy the demo models to FOLDER")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the tour, or copy the models."""
    if args.copy is not None:
        return _copy(Path(args.copy))
    if args.format == "json":
        from outlive.report.model_json import reading_json, readings_json

        readings = [read_source(demo_models.path(model.name)) for model in demo_models.DEMO_MODELS]
        write_json(args, readings_json([reading_json(reading, assess(reading)) for reading in readings]))
    else:
        write_text(args, _tour())
    return exits.CLEAN


def _copy(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for model in demo_models.DEMO_MODELS:
            shutil.copy(demo_models.path(model.name), folder)
            print(f"{folder / model.file}  {model.what}")
    except OSError as error:
        print(f"outlive demo: cannot copy to {folder}: {error.strerror}", file=sys.stderr)
        return exits.USAGE
    return exits.CLEAN


def _tour() -> Iterator[RenderableType]:
    from rich.text import Text

    from outlive.report.finding_text import rich_finding
    from outlive.report.flight_text import flight_text
    from outlive.report.model_lists import file_table
    from outlive.report.model_text import summary
    from outlive.report.verdict import judge_fact

    paths = {model.name: demo_models.path(model.name) for model in demo_models.DEMO_MODELS}
    yield Text.assemble(
        ("1. Models that ship with outlive\n", "bold"), ("   outlive read *.tflite\n", "green")
    )
    yield file_table([(reading, assess(reading)) for reading in map(read_source, paths.values())])
    yield Text.assemble(
        ("\n2. What is in a healthy one\n", "bold"), ("   outlive read healthy.tflite\n", "green")
    )
    yield from summary(api.read(paths["healthy"]))
    yield Text.assemble(
        ("\n3. How much memory it will need, before it runs\n", "bold"),
        ("   outlive plan healthy.tflite\n", "green"),
    )
    yield from _plan(str(paths["healthy"]), None)
    yield Text.assemble(
        ("\n4. A small file that needs much\n", "bold"),
        ("   outlive plan too_big.tflite --accelerator builtin --ram 64MB\n", "green"),
    )
    yield from _plan(str(paths["too_big"]), 64_000_000)
    yield Text.assemble(
        ("\n5. What a wasteful one could do without\n", "bold"),
        ("   outlive read wasteful.tflite\n", "green"),
    )
    yield from (rich_finding(finding) for finding in api.check(paths["wasteful"]))
    yield Text.assemble(("\n6. A file that lies: the healthy model, cut in half\n", "bold"))
    yield from (rich_finding(finding) for finding in api.check(_half(paths["healthy"])).errors)
    yield Text.assemble(
        ("\n7. A model that kills whoever runs it, before it runs\n", "bold"),
        ("   outlive check deadly.tflite\n", "green"),
    )
    yield from (rich_finding(finding) for finding in api.check(paths["deadly"]).errors)
    yield Text.assemble(
        ("\n8. The same model, run: it dies, we do not\n", "bold"),
        ("   outlive run deadly.tflite\n", "green"),
    )
    flight = api.run(paths["deadly"])
    findings = [judge_fact("flight", flight, str(paths["deadly"]))[0]] if flight.died else []
    yield from flight_text(flight, str(paths["deadly"]), findings)
    yield Text.assemble("\nTry them yourself: ", ("outlive demo --copy here", "green"))


def _plan(path: str, ram_bytes: int | None) -> Iterator[RenderableType]:
    from outlive.arena.budget import Budget
    from outlive.arena.questions import Wish
    from outlive.fitting.planning import plan_model
    from outlive.fitting.verdicts import judge_fit, judge_plan
    from outlive.report.plan_text import plan_text

    model, wish = api.read(path), Wish(accelerator="cpu" if ram_bytes is None else "builtin")
    plan, verdict = plan_model(model, wish), None
    if ram_bytes is not None:
        budget = Budget(kind="ram", title="the RAM granted", ram_bytes=ram_bytes, source="--ram")
        verdict = judge_fit(model, wish, plan, budget)
    yield from plan_text(plan, verdict, judge_plan(plan, verdict))


def _half(path: Path) -> bytes:
    data = path.read_bytes()
    return data[: len(data) // 2]
