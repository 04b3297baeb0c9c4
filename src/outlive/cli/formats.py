"""What other tools read: csv for spreadsheets, trace for Perfetto, overlay for Model Explorer."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outlive.cli.output import complain_lines, write_json, write_plain

if TYPE_CHECKING:
    from outlive.accelerators import Coverage
    from outlive.finding import Finding
    from outlive.worker.flight import Flight

EXPORTS = ("csv", "trace", "overlay")


def tell_errors(findings: Sequence[Finding]) -> None:
    """Say on standard error what is wrong: formats for other tools have no room for it."""
    from outlive.finding import Severity
    from outlive.rendering.finding_text import plain_finding

    for finding in findings:
        if finding.severity is Severity.ERROR:
            complain_lines(plain_finding(finding))


def export_run(args: argparse.Namespace, flight: Flight, findings: Sequence[Finding]) -> None:
    """A run as a table of its memory, or on a line of time."""
    from outlive.rendering.media.csv import run_csv
    from outlive.rendering.media.trace_run import run_trace

    if args.format == "csv":
        write_plain(args, run_csv(flight))
    else:
        write_json(args, run_trace(flight, args.file, findings))
    tell_errors(findings)


def export_coverage(args: argparse.Namespace, coverage: Coverage, findings: Sequence[Finding]) -> None:
    """Who takes which operator, as a table or over the graph."""
    from outlive.rendering.media.csv import coverage_csv
    from outlive.rendering.media.overlay import coverage_overlay

    if args.format == "csv":
        write_plain(args, coverage_csv(coverage))
    else:
        write_json(args, coverage_overlay(coverage, graph_of(args.file)))
    tell_errors(findings)


def graph_of(path: str) -> str:
    """What Model Explorer calls a file's first graph: the subgraph's name, its signature's, or main."""
    from outlive.verbs.read import reading_of

    model = reading_of(path).model
    if model is None or not model.subgraphs:
        return "main"
    keys = [signature.key for signature in model.signatures if signature.subgraph_index == 0]
    return model.subgraphs[0].name or next(filter(None, keys), "main")
