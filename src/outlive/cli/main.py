"""The command `outlive`: finds the command asked for, runs it, and turns every ending into an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module

from outlive.cli import exits
from outlive.cli.parser import Parser
from outlive.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:  # what `--version` and `--help` do not need is loaded when it is needed
    from collections.abc import Sequence
    from types import ModuleType

# Each is a module of this package; only the one that is asked for is loaded.
COMMANDS = {
    "read": "show what is in a model file, without running it",
    "plan": "say how much memory a model will need, part by part, before anything runs",
    "check": "say what is wrong with models, and what they waste, before anything runs",
    "run": "run a model in a process of its own, with limits, and say what happened",
    "diagnose": "say why a model dies, hangs or is refused, at which operator, and what does work",
    "delegates": "try a model on every accelerator here, each in a process of its own: what each takes",
    "report": "write all that can be found out about a model to one page that works offline",
    "autopsy": "read a log, a core file or a pasted message of a death: what it means, and what to do next",
    "cut": "cut a part out of a model: some of its operators, as a model of their own",
    "compare": "say how far a (quantized) model is from its reference, and in which layers the error is born",
    "quantize": "quantize a float model with ai-edge-quantizer, in a process of its own",
    "convert": "convert a TensorFlow or Keras model to a .tflite file, in a process of its own",
    "fit": "make a model fit a memory: settings, batch, smaller numbers or pictures, each with its cost",
    "export": "write a model as source code for a microcontroller: the array, its operators, its arena",
    "snippet": "write the code that feeds and reads a model correctly, in Python, C++, C or Java",
    "scan": "look at many models at once, here or on a cluster: one table, whatever they do",
    "leak": "repeat a model's cycles, or a function, in a worker and say whether it leaks, and what",
    "guard": "run a Python script in a process of its own, with limits, and say why it died",
    "blackbox": "show why a notebook's kernel died: the cell, what happened, the evidence, what to do",
    "notebook": "have every IPython and Jupyter kernel load outlive when it starts, or no longer",
    "explain": "explain a finding by its code, or list them all",
    "devices": "list the boards, phones and microcontrollers that are known by name",
    "doctor": "show what this machine offers and what is missing",
    "demo": "take a tour on models that ship with outlive",
}

_DESCRIPTION = (
    "Your kernel outlives your model: what is in a TensorFlow Lite file, and what is wrong with it."
)
_EPILOG = """\
`outlive model.tflite` alone is the whole check-up: read, plan, check, run, and diagnose if it dies.
exit codes: 0 clean, 1 findings of severity error, 2 usage, 3 the model died, 4 does not fit,
70 a bug of outlive, 130 interrupted
"""

# Made from the parser, so that it cannot go stale.
_BASH = """\
# bash completion for outlive: eval "$(outlive --completion bash)"
_outlive() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" words="{top}"
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    local name
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$current")
}}
complete -o filenames -F _outlive outlive"""

_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


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
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if only in (None, name):
            module = module_of(name)
            command.epilog = module.EXAMPLES
            module.configure(command)
    return parser


def module_of(command: str) -> ModuleType:
    """The module that carries a command out."""
    return import_module(f"outlive.cli.commands.{command}")


def _unknown_command(word: str) -> int:
    import difflib

    from outlive.cli.terminal import complain
    from outlive.names import safe

    near = difflib.get_close_matches(word, COMMANDS, 1)
    hint = f"did you mean `outlive {near[0]}`?" if near else f"commands are: {', '.join(COMMANDS)}"
    complain(f"outlive: there is no command or file {safe(word, 80)!r}; {hint}")
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
    if args.completion:
        sys.stdout.write(completion_script(args.completion, build_parser()) + "\n")
        return exits.CLEAN
    if args.command is None:
        parser.print_help(sys.stderr)
        return exits.USAGE
    code: int = module_of(args.command).run(args)
    sys.stdout.flush()
    return code


def completion_script(shell: str, parser: argparse.ArgumentParser) -> str:
    """A script that completes commands, options and file names."""
    commands = subcommands(parser)
    if shell == "fish":
        return "\n".join(_fish_lines(commands))
    cases = "\n".join(
        f'        {name}) words="{" ".join(_options(sub))}" ;;' for name, sub in commands.items()
    )
    bash = _BASH.format(top=" ".join([*commands, *_options(parser)]), cases=cases)
    return _ZSH + bash if shell == "zsh" else bash


def _quoted(text: str | None) -> str:
    """What stands between single quotes in fish, where a backslash escapes them."""
    return (text or "").replace("\\", "\\\\").replace("'", "\\'")


def _fish_lines(commands: dict[str, argparse.ArgumentParser]) -> list[str]:
    lines = ["# fish completion for outlive: outlive --completion fish | source"]
    for name, sub in commands.items():
        lines.append(
            f"complete -c outlive -n __fish_use_subcommand -a {name} -d '{_quoted(sub.description)}'"
        )
        lines += [
            f"complete -c outlive -n '__fish_seen_subcommand_from {name}' -l {option.removeprefix('--')}"
            for option in _options(sub)
            if option.startswith("--")
        ]
    return lines


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for action in parser._actions for option in action.option_strings]
