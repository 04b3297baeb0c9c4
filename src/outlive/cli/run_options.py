"""Options of every command that runs a model."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable
from typing import Any

from outlive.verbs.run import SANDBOX_MODES

_KERNELS = "cpu is XNNPACK, builtin LiteRT's own kernels, reference the plain ones"
_MORE = {
    "gpu": "the GPU",
    "npu": "an NPU through OpenVINO",
    "auto": "the first that is fit for the model, stepping down when one dies",
}


def add_run_options(
    parser: argparse.ArgumentParser, *inputs: str, seconds: str = "", compiled: bool = False
) -> None:
    """What is fed, what it may take, and how it is run; `inputs` are the names of the first option.

    With `compiled` the accelerators beyond the kernels of the CPU are offered too.
    """
    more = "".join(f", {name} {words}" for name, words in _MORE.items()) if compiled else ""
    parser.add_argument(
        *inputs,
        dest="inputs",
        action="append",
        metavar="[NAME=]VALUE",
        help="a .npy file, an .npz file with all inputs, zeros, ones or random (may be given several times); "
        "where the model leaves a size open, the array decides it",
    )
    parser.add_argument(
        "--memory", metavar="SIZE", help="most private memory the model may add, such as 512MB"
    )
    parser.add_argument("--seconds", type=float, metavar="S", help=f"most seconds a call may take{seconds}")
    parser.add_argument(
        "--accelerator",
        choices=("cpu", "builtin", "reference", *(_MORE if compiled else ())),
        default="cpu",
        help=_KERNELS + more,
    )
    parser.add_argument("--threads", type=int, metavar="N", help="threads the model may use")


def add_sandbox_option(parser: argparse.ArgumentParser, default: str | None, when: str) -> None:
    """Whether it runs in a sandbox of the operating system; `when` says what goes without the option."""
    words = "no files but those it needs, no network, no other processes"
    parser.add_argument("--sandbox", choices=SANDBOX_MODES, default=default, help=f"{words} (Linux): {when}")


def options_for(verb: Callable[..., Any], args: argparse.Namespace) -> dict[str, Any]:
    """The command's options that the verb has under the same name: all that are not about presentation."""
    known = inspect.signature(verb).parameters
    return {name: value for name, value in vars(args).items() if name in known}
