"""Exit codes, as the documentation promises them."""

from __future__ import annotations

import argparse

from outlive.cli.output import complain
from outlive.errors import LimitReached, ModelDied, OutliveError

CLEAN = 0
FINDINGS = 1
USAGE = 2
DIED = 3
DOES_NOT_FIT = 4
OUR_BUG = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


def tell_failure(args: argparse.Namespace, error: Exception) -> int:
    """Say what went wrong with a model, or with what was asked for; the exit code."""
    if not isinstance(error, OutliveError):
        complain(f"outlive {args.command}: {error}")
        return USAGE
    complain(error)
    return DIED if isinstance(error, (ModelDied, LimitReached)) else FINDINGS
