"""The command `outlive`: finds the command asked for, runs it, and turns every ending into an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module

from outlive.cli import exits
from outlive.cli.parser import Parser, near
from outlive.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:  # what `--version` and `--help` do not need is loaded when it is needed
    from collections.abc import Sequence
    from types import ModuleType

# Each command is a module of `commands`; only the one that is asked for is loaded.
GROUPS = {
    "Inspect a model": {
        "read": "Show what is in a model file, without running it",
        "plan": "Plan the memory of a model, part by part, without running it",
        "check": "Check models for errors and waste, without running them",
        "report": "Write a report on a model as one HTML page",
        "scan": "Check, plan and run many models, here or on a cluster",
    },
    "Run and debug": {
        "run": "Run a model in a separate process, with limits",
        "diagnose": "Find out why a model crashes, hangs or is refused",
        "delegates": "Try a model on each accelerator of this machine",
        "leak": "Find out whether a model or a function leaks memory",
        "guard": "Run a Python script in a separate process, with limits",
        "autopsy": "Explain a crash from a log, a core file or a message",
        "blackbox": "Show why a notebook kernel died",
    },
    "Change a model": {
        "compare": "Compare a quantized model with its reference, layer by layer",
        "quantize": "Quantize a float model, in a separate process",
        "convert": "Convert a TensorFlow or Keras model to .tflite",
        "fit": "Make a model fit into a memory budget",
        "cut": "Save part of a model as a separate model",
        "export": "Export a model as C++ source code for a microcontroller",
        "snippet": "Write the code that calls a model, in Python, C++, C or Java",
    },
    "Learn and set up": {
        "explain": "Explain a finding by its code",
        "devices": "List the devices that outlive knows",
        "doctor": "Check this machine: runtimes, memory, limits, accelerators",
        "notebook": "Auto-load outlive in Jupyter kernels",
        "demo": "Take a tour with the demo models",
        "help": "Show help on a command or a topic",
        "completion": "Print a script that completes commands in your shell",
    },
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}

_DESCRIPTION = (
    "Run LiteRT models in a separate process: if one crashes, your program survives and you learn why."
)
_EPILOG = """\
`outlive MODEL` alone reads, plans, checks and runs a model, and diagnoses it if it dies.

Exit codes: 0 clean, 1 findings of severity error, 2 usage, 3 the model died, 4 does not fit,
70 a bug in outlive, 130 interrupted
"""
_MODELS = """
`outlive demo --copy .` writes the demo models of these examples.
"""
_QUESTIONS = """\
What is wrong with a model?  outlive check m.tflite
How much memory is needed?   outlive plan m.tflite
Does it run?                 outlive run m.tflite
Why does it crash?           outlive diagnose m.tflite
How do I make it fit?        outlive fit m.tflite --ram 8MB

All of this on one screen:   outlive m.tflite
No model yet?                outlive demo
All commands:                outlive --help
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and give its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a stream that knows no box characters gets question marks
    try:
        return _run(words)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except Exception as error:
        from outlive.cli.failures import exit_code_after

        return exit_code_after(error)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, from which documentation and completion are made.

    With `only`, the others have a name and a line, and no options: their modules are not loaded.
    """
    parser = Parser(prog="outlive", description=_DESCRIPTION, epilog=_EPILOG)
    parser.listed = _listed()
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary}.")
        if only in (None, name):
            module = module_of(name)
            command.epilog = module.EXAMPLES + (_MODELS if ".tflite" in module.EXAMPLES else "")
            module.configure(command)
    return parser


def _listed() -> str:
    lines = []
    for title, group in GROUPS.items():
        lines += [f"{title}:", *(f"  {name:<11} {summary}" for name, summary in group.items()), ""]
    return "\n".join(lines)


def module_of(command: str) -> ModuleType:
    """The module that carries a command out."""
    return import_module(f"outlive.cli.commands.{command}")


def _unknown_command(word: str) -> int:
    from outlive.cli.terminal import complain
    from outlive.names import safe

    complain(f"outlive: unknown command {safe(word, 80)!r}{near(word, COMMANDS)}")
    complain("Usage: outlive [OPTIONS] COMMAND ...")
    complain("Help: outlive --help")
    return exits.USAGE


def _checked_up(words: list[str]) -> int | None:
    """The whole check-up of one file; None if the words ask for something else."""
    checkup = module_of("checkup")
    if not checkup.is_checkup(words):
        return None
    try:
        code: int = checkup.run(words)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else exits.USAGE
    sys.stdout.flush()
    return code


def _run(words: list[str]) -> int:
    if words and words[0].partition("=")[0] == "--completion":  # the old name of the command
        words = ["completion", *words[0].split("=")[1:], *words[1:]]
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        if not (os.path.exists(words[0]) or words[0].endswith(".tflite") or os.sep in words[0]):
            return _unknown_command(words[0])
        checked_up = _checked_up(words)
        if checked_up is not None:
            return checked_up
        words = ["read", *words]
    parser = build_parser(words[0] if words else "")
    try:
        args = parser.parse_args(words)
    except SystemExit as end:  # argparse has printed its help or its complaint
        return end.code if isinstance(end.code, int) else exits.USAGE
    if args.version:
        sys.stdout.write(f"outlive {__version__}\n")
        return exits.CLEAN
    if args.command is None:
        sys.stderr.write(_QUESTIONS)
        return exits.USAGE
    code: int = module_of(args.command).run(args)
    sys.stdout.flush()
    return code


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}
