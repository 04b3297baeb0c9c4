"""`outlive read --sparsity`: how many of the weights are zero, and what that is worth."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.cli.output import progress
from outlive.model import Model

if TYPE_CHECKING:
    from rich.console import RenderableType

    from outlive.fitting.pruning import Pruning


def add_sparsity_options(parser: argparse.ArgumentParser) -> None:
    """Give the command `--sparsity` and `--measure`."""
    parser.add_argument(
        "--sparsity",
        action="store_true",
        help="how many weights are zero, and what that is worth: in the file, compressed, sparse, in RAM",
    )
    parser.add_argument(
        "--measure", action="store_true", help="with --sparsity: run the model in a worker, dense and sparse"
    )


def weigh(args: argparse.Namespace, model: Model) -> Pruning:
    """What the zeros are worth; a sign of life on standard error meanwhile."""
    from outlive.fitting.pruning import weigh_zeros

    with progress("looking for zeros") as tell:
        return weigh_zeros(model, args.measure, tell)


def sparsity(args: argparse.Namespace, model: Model) -> Iterator[RenderableType]:
    """The same in words."""
    from outlive.rendering.pruning_report import pruning_text

    return pruning_text(weigh(args, model))
