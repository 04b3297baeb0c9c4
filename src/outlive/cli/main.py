"""The command `outlive`: finds the command asked for, runs it, and turns every ending into an exit code."""

from __future__ import annotations

import argparse
import difflib
import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType

from outlive.cli import (
    autopsy,
    blackbox,
    check,
    checkup,
    compare,
    cut,
    delegates,
    demo,
    diagnose,
    doctor,
    exits,
    explain,
    export,
    fit,
    guard,
    leak,
    notebook,
    plan,
    quantize,
    read,
    report,
    run,
    scan,
    snippet,
)
from outlive.cli.output import OutputError, Parser, complain, complain_lines, say
from outlive.errors import ModelError
from outlive.names import safe

COMMANDS: dict[str, ModuleType] = {
    "read": read,
    "plan": plan,
    "check": check,
    "run": run,
    "diagnose": diagnose,
    "delegates": delegates,
    "report": report,
    "autopsy": autopsy,
    "cut": cut,
    "compare": compare,
    "quantize": quantize,
    "fit": fit,
    "export": export,
    "snippet": snippet,
    "scan": scan,
    "leak": leak,
    "guard": guard,
    "blackbox": blackbox,
    "notebook": notebook,
    "explain": explain,
    "doctor": doctor,
    "demo": demo,
}

_DESCRIPTION = (
    "Your kernel outlives your model: what is in a TensorFlow Lite file, and what is wrong with it."
)
_EPILOG = """\
`outlive model.tflite` alone is the whole check-up: read, plan, check, run, and diagnose if it dies.
exit codes: 0 clean, 1 findings of severity error, 2 usage, 3 the model died, 4 does not fit,
70 a bug of outlive, 130 interrupted
"""
# What a system answers that has nothing left to give, or a broken disk: no bug of ours.
_SHORTAGES = (
    errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
    errno.ENOBUFS, errno.EAGAIN,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and give its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a stream that knows no box characters gets question marks
    try:
        return _run(words)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()  # whoever reads our output has seen enough
        return exits.PIPE_CLOSED
    except OutputError as error:
        complain(f"outlive: {error}")
        return exits.USAGE
    except ModelError as error:  # the file has changed since it was read
        complain(error)
        return exits.FINDINGS
    except OSError as error:
        if error.errno not in _SHORTAGES:
            return _our_bug()
        _silence_stdout()
        about = f": {error.filename}" if error.filename else ""
        complain(f"outlive: the system refuses to go on: {error.strerror}{about}")
        return exits.USAGE
    except MemoryError:
        complain("outlive: there is not enough memory here")
        return exits.USAGE
    except Exception:
        return _our_bug()


def _silence_stdout() -> None:
    """Point stdout elsewhere, or Python complains about it at exit."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _our_bug() -> int:
    complain_lines(traceback.format_exc().rstrip())
    complain("outlive: this is a bug of outlive, not of your model; please report it with the lines above")
    return exits.OUR_BUG


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; documentation and completion are made from it."""
    parser = Parser(
        prog="outlive",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument(
        "--completion", choices=("bash", "zsh", "fish"), help="print a script for shell completion and exit"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, module in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=module.SUMMARY,
            description=module.SUMMARY[0].upper() + module.SUMMARY[1:] + ".",
            epilog=module.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(command)
    return parser


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("outlive")
    except PackageNotFoundError:
        return "of unknown version: it is not installed"


def _unknown_command(word: str) -> int:
    near = difflib.get_close_matches(word, COMMANDS, 1)
    hint = f"did you mean `outlive {near[0]}`?" if near else f"commands are: {', '.join(COMMANDS)}"
    complain(f"outlive: there is no command or file {safe(word, 80)!r}; {hint}")
    return exits.USAGE


def _checked_up(words: list[str]) -> int:
    try:
        code = checkup.run(words)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else exits.USAGE
    sys.stdout.flush()
    return code


def _run(words: list[str]) -> int:
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        if not (os.path.exists(words[0]) or words[0].endswith(".tflite") or os.sep in words[0]):
            return _unknown_command(words[0])
        if checkup.is_checkup(words):
            return _checked_up(words)
        words = ["read", *words]
    parser = build_parser()
    try:
        args = parser.parse_args(words)
    except SystemExit as end:  # argparse has printed its help or its complaint
        return end.code if isinstance(end.code, int) else exits.USAGE
    if args.version:
        say(f"outlive {_version()}")
        return exits.CLEAN
    if args.completion:
        from outlive.cli.completion import completion_script

        sys.stdout.write(completion_script(args.completion, parser) + "\n")
        return exits.CLEAN
    if args.command is None:
        parser.print_help(sys.stderr)
        return exits.USAGE
    code: int = COMMANDS[args.command].run(args)
    sys.stdout.flush()
    return code
