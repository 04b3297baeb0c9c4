"""`outlive doctor`: what this machine offers, what is missing, and the command that fixes it."""

from __future__ import annotations

import argparse
import itertools

from outlive import cache as caches
from outlive.cli import exits
from outlive.cli.output import add_output_options, write_json, write_text

EXAMPLES = """\
examples:
  outlive doctor                         runtimes, memory, limits, isolation, accelerators
  outlive doctor --format json           the same for programs
  outlive doctor --clean                 empty the caches, and say what was removed
exit code 1 if models cannot be run here: no runtime is installed, or no process can be started
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument(
        "--clean",
        action="store_true",
        help="first remove all that is kept between runs, and temporary files and cgroups of killed programs",
    )
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Look, try, and tell; 1 if something is missing without which no model can be run."""
    from outlive.environment.capabilities import is_ready, survey
    from outlive.environment.surroundings import look_around
    from outlive.rules import judge
    from outlive.rules.catalogue import RULES

    removed = caches.clean() if args.clean else ()
    checks = survey()
    ready = is_ready(checks)
    about_here = [rule for rule in RULES if rule.facts == ("surroundings",)]
    findings = judge({"surroundings": look_around()}, about_here).findings
    if args.format == "json":
        from outlive.environment.checkup import DoctorReport
        from outlive.rendering.media.json import document_of

        report = DoctorReport(
            ready=ready,
            checks=tuple(checks),
            caches=tuple(caches.usage()),
            most_cache_bytes=caches.most_bytes(),
            most_cache_days=caches.MOST_DAYS,
            removed=tuple(removed),
            findings=findings,
        )
        write_json(args, document_of(report))
    else:
        from outlive.rendering.doctor_text import cache_parts, doctor_parts

        write_text(args, itertools.chain(doctor_parts(checks, ready, findings), cache_parts(removed)))
    return exits.CLEAN if ready else exits.FINDINGS
