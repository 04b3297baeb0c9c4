"""Options of commands. What several commands have is declared here, once."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping
from typing import Any

# What each format is for; every command has the first two, and says which others it has.
FORMATS = {
    "text": "text for people (default)",
    "json": "json for programs",
    "html": "html to look at and to send",
    "csv": "csv for spreadsheets",
    "trace": "trace for Perfetto and chrome://tracing",
    "overlay": "overlay to lay over the graph in Model Explorer",
    "sarif": "sarif 2.1.0",
    "github": "github workflow annotations",
    "gitlab": "gitlab code quality",
    "junit": "junit xml",
    "markdown": "markdown for a job summary",
}
KERNELS_OF_CPU = ("cpu", "builtin", "reference")
# The type of a value, by its name in the help.
_TYPES: Mapping[str, Callable[[str], Any]] = {"N": int, "S": float, "DB": float}
_SHARED: Mapping[str, Mapping[str, Any]] = {
    "file": {"metavar": "MODEL", "help": "a .tflite model"},
    "--accelerator": {
        "choices": KERNELS_OF_CPU,
        "default": "cpu",
        "help": "cpu is XNNPACK, builtin LiteRT's own kernels, reference the plain ones",
    },
    "--batch": {"metavar": "N", "help": "another first dimension of every input"},
    "--device": {"metavar": "NAME", "help": "a device by name, or a .toml file that describes one"},
    "--memory": {"metavar": "SIZE", "help": "most private memory the model may add, such as 512MB"},
    "--ram": {"metavar": "SIZE", "help": "memory granted to the model, such as 64MB"},
    "--runtime": {"default": "litert"},
    "--samples": {
        "metavar": "WHERE",
        "help": "an .npz or .npy file, or a folder of .npy, .npz and picture files",
    },
    "--seconds": {"metavar": "S", "help": "how long it may take"},
    "--seed": {"metavar": "N", "default": 0, "help": "seed of random inputs (default 0)"},
    "--threads": {"metavar": "N", "help": "threads the model may use"},
    "--verbose": {"action": "count", "default": 0, "help": "show more; -vv shows everything"},
}


def option(parser: argparse._ActionsContainer, *words: str, **how: Any) -> None:
    """Add an option or an argument: its names, then its help; a name alone is one that commands share.

    An option without a value, choices or an action is a flag; one that may be given `several` times is a
    list. The type follows from the metavar.
    """
    names = [word for word in words if word.startswith("-") and " " not in word] or [words[0]]
    how = {**_SHARED.get(names[-1], {}), **how}
    if len(words) > len(names):
        how["help"] = words[-1]
    if how.pop("several", False):
        how = {"action": "append", "default": [], **how}
    if names[0].startswith("-") and not {"metavar", "choices", "action", "nargs"} & how.keys():
        how["action"] = "store_true"
    if how.get("metavar") in _TYPES:
        how = {"type": _TYPES[how["metavar"]], **how}
    parser.add_argument(*names, **how)


def add_output_options(
    parser: argparse.ArgumentParser, *more: str, default: str = "text"
) -> argparse._ArgumentGroup:
    """Give a command `--format`, `--output` and `-v`; `more` are formats beside text and json."""
    group = parser.add_argument_group("output")
    choices = ("text", "json", *more)
    option(group, "--format", ", ".join(map(FORMATS.__getitem__, choices)), choices=choices, default=default)
    option(group, "-o", "--output", "write to FILE instead of standard output", metavar="FILE")
    option(group, "-v", "--verbose")
    return group


def add_telling_options(parser: argparse.ArgumentParser) -> None:
    """The same for a command whose `--output` is a model: what is said goes to standard output."""
    group = parser.add_argument_group("output")
    words = "how to tell what was done (default text); html goes to standard output: > page.html"
    option(group, "--format", words, choices=("text", "json", "html"), default="text")
    option(group, "-v", "--verbose")


def add_run_options(parser: argparse.ArgumentParser, *inputs: str, seconds: str = "") -> None:
    """What is fed, what it may take, and how it is run; `inputs` are the names of the first option."""
    words = (
        "a .npy file, an .npz file with all inputs, zeros, ones or random (may be given several times); "
        "where the model leaves a size open, the array decides it"
    )
    option(parser, *inputs, words, dest="inputs", several=True, default=None, metavar="[NAME=]VALUE")
    option(parser, "--memory")
    option(parser, "--seconds", f"most seconds a call may take{seconds}")


def add_micro_options(group: argparse._ActionsContainer) -> None:
    """How a program for TensorFlow Lite Micro is built."""
    from outlive.verbs.choices import ABIS, KERNELS

    option(group, "--word", "word size (default 32)", type=int, choices=(32, 64))
    option(group, "--abi", "layout of structures (default cortex-m)", choices=ABIS)
    option(group, "--kernels", "which kernels it is built with (default reference)", choices=KERNELS)


def add_sandbox_option(parser: argparse.ArgumentParser, default: str | None, when: str) -> None:
    """Whether it runs in a sandbox of the operating system; `when` says what goes without the option."""
    from outlive.verbs.choices import SANDBOX_MODES

    words = f"no files but those it needs, no network, no other processes (Linux): {when}"
    option(parser, "--sandbox", words, choices=SANDBOX_MODES, default=default)


def options_for(verb: Callable[..., Any], args: argparse.Namespace) -> dict[str, Any]:
    """The command's options that the verb has under the same name: all that are not about presentation."""
    known = inspect.signature(verb).parameters
    return {name: value for name, value in vars(args).items() if name in known}
