"""Options of every command that runs a model."""

from __future__ import annotations

import argparse


def add_run_options(parser: argparse.ArgumentParser, *inputs: str, seconds: str = "") -> None:
    """What is fed, what it may take, and how it is run; `inputs` are the names of the first option."""
    parser.add_argument(
        *inputs,
        action="append",
        default=[],
        metavar="[NAME=]VALUE",
        help="a .npy file, an .npz file with all inputs, zeros, ones or random (may be given several times)",
    )
    parser.add_argument(
        "--memory", metavar="SIZE", help="most private memory the model may add, such as 512MB"
    )
    parser.add_argument("--seconds", type=float, metavar="S", help=f"most seconds a call may take{seconds}")
    parser.add_argument(
        "--accelerator",
        choices=("cpu", "builtin", "reference"),
        default="cpu",
        help="cpu is XNNPACK, builtin LiteRT's own kernels, reference the plain ones",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="threads the model may use")
