"""Options of commands. What several commands have is declared here, once."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping
from typing import Any

KERNELS_OF_CPU = ("cpu", "builtin", "reference")
# The type of a value, by its name in the help.
_TYPES: Mapping[str, Callable[[str], Any]] = {"N": int, "S": float, "DB": float}
_SHARED: Mapping[str, Mapping[str, Any]] = {
    "file": {"metavar": "MODEL", "help": "a .tflite model"},
    "--accelerator": {
        "choices": KERNELS_OF_CPU,
        "default": "cpu",
        "help": "the kernels to use: cpu is XNNPACK (default), builtin and reference are those of LiteRT",
    },
    "--batch": {"metavar": "N", "help": "set the first dimension of every input to N"},
    "--device": {"metavar": "NAME", "help": "the memory of a device: a name, or a .toml file"},
    "--memory": {"metavar": "SIZE", "help": "end the run if the model adds more memory, such as 512MB"},
    "--ram": {"metavar": "SIZE", "help": "the memory that you grant the model, such as 64MB"},
    "--runtime": {"default": "litert", "help": "the package that runs the model (default litert)"},
    "--samples": {
        "metavar": "WHERE",
        "help": "sample inputs: an .npz or .npy file, or a folder of .npy, .npz and image files",
    },
    "--seconds": {"metavar": "S", "help": "the most seconds it may take"},
    "--seed": {"metavar": "N", "default": 0, "help": "seed for random inputs (default 0)"},
    "--threads": {"metavar": "N", "help": "the number of threads that the model may use"},
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
    """Give a command `--format`, `--output`, `-v` and `-q`; `more` are formats beside text and json."""
    group = parser.add_argument_group("Output")
    words = f"the format (default {default}); `outlive help formats` explains them"
    option(group, "--format", words, choices=("text", "json", *more), default=default)
    option(group, "-o", "--output", "write to FILE instead of standard output", metavar="FILE")
    add_detail_options(group, "html" in more)
    return group


def add_telling_options(parser: argparse.ArgumentParser, *more: str) -> None:
    """The same for a command whose `--output` is a model: its text goes to standard output."""
    group = parser.add_argument_group("Output")
    words = "the format of the summary (default text), which goes to standard output"
    option(group, "--format", words, choices=("text", "json", *more), default="text")
    add_detail_options(group, "html" in more)


def add_detail_options(group: argparse._ArgumentGroup, has_pages: bool = False) -> None:
    """How much is shown; and `--open`, where there are pages."""
    if has_pages:
        option(group, "--open", "write the page and open it in your browser")
    option(group, "-v", "--verbose")
    option(group, "-q", "--quiet", "show one line for each file, and no progress")


def add_run_options(parser: argparse.ArgumentParser, *inputs: str, seconds: str = "") -> None:
    """What is fed, what it may take, and how it is run; `inputs` are the names of the first option."""
    words = (
        "input values: a .npy file, an .npz file with all inputs, zeros, ones or random (repeatable); "
        "an array also sets the sizes that the model leaves open"
    )
    option(parser, *inputs, words, dest="inputs", several=True, default=None, metavar="[NAME=]VALUE")
    option(parser, "--memory")
    option(parser, "--seconds", f"the most seconds that a call may take{seconds}")


def add_micro_options(group: argparse._ActionsContainer) -> None:
    """How a program for TensorFlow Lite Micro is built."""
    from outlive.verbs.choices import ABIS, KERNELS

    option(group, "--word", "word size (default 32)", type=int, choices=(32, 64))
    option(group, "--abi", "the ABI, which decides the size of structures (default cortex-m)", choices=ABIS)
    option(group, "--kernels", "the kernels in the build (default reference)", choices=KERNELS)


def add_sandbox_option(parser: argparse.ArgumentParser, default: str | None, when: str) -> None:
    """Whether it runs in a sandbox of the operating system; `when` says what the default is."""
    from outlive.verbs.choices import SANDBOX_MODES

    words = f"on Linux, deny the process other files, the network and other processes ({when})"
    option(parser, "--sandbox", words, choices=SANDBOX_MODES, default=default)


def options_for(verb: Callable[..., Any], args: argparse.Namespace) -> dict[str, Any]:
    """The command's options that the verb has under the same name: all that are not about presentation."""
    known = inspect.signature(verb).parameters
    return {name: value for name, value in vars(args).items() if name in known}
