"""`outlive read`: what is in the file, without running it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.cli import exits
from outlive.cli.output import (
    add_output_options,
    complain,
    refuse_to_overwrite,
    track,
    write_json,
    write_text,
)
from outlive.cli.read_sparsity import add_sparsity_options, sparsity, weigh
from outlive.model import Model, Reading
from outlive.rules import Judgement
from outlive.rules.catalogue import assess
from outlive.verbs.read import reading_of

if TYPE_CHECKING:
    from rich.console import RenderableType

EXAMPLES = """\
examples:
  outlive read model.tflite              the summary, and what the model wastes
  outlive read model.tflite --ops        every operator with its options
  outlive read model.tflite --graph      one line per operator, in execution order
  outlive read model.tflite --sparsity   how many weights are zero, and what that is worth
  outlive read *.tflite                  one table for many files
  outlive read model.tflite --format json --output model.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a .tflite model")
    parser.add_argument("--ops", action="store_true", help="list every operator with its options")
    parser.add_argument("--tensors", action="store_true", help="list every tensor with its quantization")
    parser.add_argument("--graph", action="store_true", help="one line per operator, in execution order")
    parser.add_argument(
        "--tolerant",
        action="store_true",
        help="show as much of a broken file as can be read, not only what is wrong",
    )
    add_sparsity_options(parser)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read the files and show them; 1 if any has a finding of severity error."""
    if args.measure and not args.sparsity:
        complain("outlive read: --measure is for --sparsity; `outlive plan --measure` runs a model")
        return exits.USAGE
    refuse_to_overwrite(args.output, args.files)
    rows = [(reading, assess(reading)) for reading in map(reading_of, track(args.files, "reading"))]
    if args.format == "json":
        _write_json(args, rows)
    elif len(rows) > 1 and not _is_listing(args):
        from outlive.rendering.model_lists import file_table

        write_text(args, [file_table(rows)])
    else:
        write_text(args, (part for row in rows for part in _show(args, *row)))
    return exits.FINDINGS if any(judgement.errors for _, judgement in rows) else exits.CLEAN


def _write_json(args: argparse.Namespace, rows: list[tuple[Reading, Judgement]]) -> None:
    from outlive.rendering.model_json import reading_json, readings_json

    documents = [reading_json(reading, judgement) for reading, judgement in rows]
    for document, (reading, judgement) in zip(documents, rows, strict=True):
        if args.sparsity and reading.model is not None and not judgement.errors:
            from outlive.rendering.pruning_report import pruning_json

            document["sparsity"] = pruning_json(weigh(args, reading.model))
    write_json(args, documents[0] if len(documents) == 1 else readings_json(documents))


def _show(args: argparse.Namespace, reading: Reading, judgement: Judgement) -> Iterator[RenderableType]:
    from outlive.rendering.finding_text import count_findings, rich_finding
    from outlive.rendering.model_text import heading

    if reading.model is not None and (args.tolerant or not judgement.errors):
        yield from _lists(args, reading.model) if _is_listing(args) else _summary(reading.model)
        if args.sparsity and not judgement.errors:
            yield from sparsity(args, reading.model)
    shown = judgement.errors if _is_listing(args) else judgement.findings
    if shown:
        yield heading("findings", count_findings(shown))
        yield from (rich_finding(finding) for finding in shown)
    for item in judgement.not_checked:
        if item.reason.startswith("the rule failed"):
            yield f"not checked: {item.code} {item.name}, {item.reason}"


def _is_listing(args: argparse.Namespace) -> bool:
    return bool(args.ops or args.tensors or args.graph or args.sparsity)


def _summary(model: Model) -> Iterator[RenderableType]:
    from outlive.rendering.model_text import summary

    return summary(model)


def _lists(args: argparse.Namespace, model: Model) -> Iterator[RenderableType]:
    from outlive.rendering.model_lists import graph_lines, operator_list, tensor_list

    if args.ops:
        yield from operator_list(model)
    if args.tensors:
        yield from tensor_list(model)
    if args.graph:
        yield from graph_lines(model)
