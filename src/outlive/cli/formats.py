"""What other tools read: csv for spreadsheets, trace for Perfetto, overlay for Model Explorer."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outlive.cli.output import complain_lines, write_json, write_plain

if TYPE_CHECKING:
    from outlive.accelerators import Coverage
    from outlive.arena.plan import Plan
    from outlive.finding import Finding
    from outlive.rendering.plan_tables import Row
    from outlive.worker.flight import Flight

EXPORTS = ("csv", "trace", "overlay")


def check_plan_format(args: argparse.Namespace) -> None:
    """ValueError if what is asked for has no such format, before anything is planned."""
    if args.devices and args.format in ("html", *EXPORTS):
        raise ValueError(f"--devices is a list: ask for --format text or json, not {args.format}")
    if (args.sweep or args.compare) and args.format in ("trace", "overlay"):
        raise ValueError(f"a sweep or comparison is a table: ask for --format csv, not {args.format}")


def tell_errors(findings: Sequence[Finding]) -> None:
    """Say on standard error what is wrong: formats for other tools have no room for it."""
    from outlive.finding import Severity
    from outlive.rendering.finding_text import plain_finding

    for finding in findings:
        if finding.severity is Severity.ERROR:
            complain_lines(plain_finding(finding))


def export_plan(
    args: argparse.Namespace, plan: Plan, findings: Sequence[Finding], rows: Sequence[Row]
) -> None:
    """A plan as a table, on a line of time, or over the graph; a sweep only as a table."""
    from outlive.rendering.csv_tables import plan_csv, settings_csv
    from outlive.rendering.overlay_graph import plan_overlay
    from outlive.rendering.trace_plan import plan_trace

    if args.format == "trace":
        write_json(args, plan_trace(plan))
    elif args.format == "overlay":
        write_json(args, plan_overlay(plan, graph_of(args.file)))
    elif rows:
        settings = [(row.setting, row.plan, row.verdict, row.problem) for row in rows]
        write_plain(args, settings_csv(settings))
    else:
        write_plain(args, plan_csv(plan))
    tell_errors(findings)


def export_run(args: argparse.Namespace, flight: Flight, findings: Sequence[Finding]) -> None:
    """A run as a table of its memory, or on a line of time."""
    from outlive.rendering.csv_tables import run_csv
    from outlive.rendering.trace_run import run_trace

    if args.format == "csv":
        write_plain(args, run_csv(flight))
    else:
        write_json(args, run_trace(flight, args.file, findings))
    tell_errors(findings)


def export_coverage(args: argparse.Namespace, coverage: Coverage, findings: Sequence[Finding]) -> None:
    """Who takes which operator, as a table or over the graph."""
    from outlive.rendering.csv_tables import coverage_csv
    from outlive.rendering.overlay_graph import coverage_overlay

    if args.format == "csv":
        write_plain(args, coverage_csv(coverage))
    else:
        write_json(args, coverage_overlay(coverage, graph_of(args.file)))
    tell_errors(findings)


def graph_of(path: str) -> str:
    """What Model Explorer calls a file's first graph: the subgraph's name, its signature's, or main."""
    from outlive.model import read_source
    from outlive.rendering.overlay_graph import graph_name

    return graph_name(read_source(path).model)
