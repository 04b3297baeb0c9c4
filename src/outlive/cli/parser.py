"""The parser of every command. The start of `outlive` loads it, so it loads little itself."""

from __future__ import annotations

import argparse
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, NoReturn

# What argparse says, and what we say instead.
_REWORDED = (
    (r"^the following arguments are required: ", "missing "),
    (r"^argument ", ""),
    (r": expected one argument$", " needs a value"),
    (r": expected at least one argument$", " needs at least one value"),
    (r": ignored explicit argument (.*)$", r" takes no value, and \1 was given"),
    (r": not allowed with argument (.*)$", r" cannot be combined with \1"),
    (r": invalid int value: (.*)$", r": \1 is not a whole number"),
    (r": invalid float value: (.*)$", r": \1 is not a number"),
)
# How alike two words have to be for one to be offered for the other.
_ALIKE = 0.65
# Where the names of commands end in the help; what is not a terminal breaks no line.
_NAMES, _NO_TERMINAL = 14, (10_000, 24)


def hanging(line: str, width: int, by: int = 2) -> str:
    """A line broken where the terminal ends; what follows is indented."""
    if len(line) <= width:
        return line
    import textwrap

    further = " " * by
    return textwrap.fill(
        line, width, subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )


def near(word: str, known: Iterable[str]) -> str:
    """A hint with the known word that is most like this one; empty if none is."""
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), 1, _ALIKE)
    return f"; did you mean {found[0]}?" if found else ""


class Parser(argparse.ArgumentParser):
    """A parser whose errors take three lines, with a hint; words of the user are shown escaped.

    `listed` are lines for the help of a parser that has commands.
    """

    listed = ""
    _words: tuple[str, ...] = ()

    def __init__(self, **how: Any) -> None:
        """Use our layout of help texts unless another is asked for."""
        super().__init__(**{"formatter_class": HelpLayout, **how})
        self._positionals.title, self._optionals.title = "Arguments", "Options"

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Like argparse, but a command complains itself of words it does not know."""
        self._words = tuple(args or ())
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and " " in self.prog:
            self.error(self._unknown(unknown[0]))
        return found, unknown

    def _unknown(self, word: str) -> str:
        if not word.startswith("-") or word == "-":
            return f"unexpected argument {word!r}"
        option = word.partition("=")[0]
        return f"unknown option {option}{near(option, self._option_string_actions)}"

    def _check_value(self, action: Any, value: Any) -> None:
        """Say which values there are, and which of them was meant."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        hint = near(str(value), choices) or f"; choose from {', '.join(choices)}"
        raise argparse.ArgumentError(action, f"unknown value {value!r}{hint}")

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words, how the command is used, and leave."""
        import shutil

        from outlive.names import safe

        if "arguments are required" in message:
            # A misspelt option is the likely reason why something is missing.
            options = (word.partition("=")[0] for word in self._words if word.startswith("--"))
            strange = [word for word in options if word != "--" and not self._knows(word)]
            message = self._unknown(strange[0]) if strange else message
        for said, instead in _REWORDED:
            message = re.sub(said, instead, message)
        usage = self.format_usage().rstrip()
        said = hanging(f"{self.prog}: {safe(message, 400)}", shutil.get_terminal_size(_NO_TERMINAL).columns)
        self.exit(2, f"{said}\n{usage}\nHelp: {self.prog} --help\n")

    def _knows(self, word: str) -> bool:
        return any(option.startswith(word) for option in self._option_string_actions)

    def format_usage(self) -> str:
        """One line: what must be given; options that may be are `[OPTIONS]`."""
        needed = [
            action
            for action in self._actions
            if (not action.option_strings or action.required) and action.help != argparse.SUPPRESS
        ]
        if any(isinstance(action, argparse._SubParsersAction) for action in needed):
            return f"Usage: {self.prog} [OPTIONS] COMMAND ...\n"
        formatter = self._get_formatter()
        formatter.add_usage(None, needed, [], prefix="Usage: ")
        words = " ".join(formatter.format_help().split())
        return words.replace(self.prog, f"{self.prog} [OPTIONS]", 1) + "\n"

    def format_help(self) -> str:
        """What it does, how it is used, arguments in groups, then examples."""
        formatter = self._get_formatter()
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            formatter.add_arguments(
                one for one in group._group_actions if not isinstance(one, argparse._SubParsersAction)
            )
            formatter.end_section()
        formatter.add_text(self.epilog)
        listed = "\n".join(hanging(line, formatter._width, _NAMES) for line in self.listed.splitlines())
        described = formatter._fill_text(self.description or "", formatter._width, "")
        parts = (described, self.format_usage(), listed, formatter.format_help())
        return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _runs(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Neighbouring lines that are indented, that are not, and those between, each group by itself."""
    from itertools import groupby

    for (is_indented, _), group in groupby(lines, lambda line: (line.startswith(" "), not line)):
        yield is_indented, list(group)


class HelpLayout(argparse.HelpFormatter):
    """The layout of help texts: it follows the width of the terminal, examples included."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Paragraphs wrapped; lines that are indented as they are, or the comment below its command."""
        lines: list[str] = []
        for is_indented, group in _runs(text.splitlines()):
            if is_indented:
                lines += [part for line in group for part in self._broken(line, width)]
            else:
                lines += self._broken(" ".join(group), width) or [""]
        return "\n".join(indent + line for line in lines)

    def _broken(self, line: str, width: int) -> list[str]:
        import textwrap

        if len(line) <= width:
            return [line]
        margin = line[: len(line) - len(line.lstrip())]
        command, gap, comment = line.strip().partition("   ")
        if not gap:
            further = f"{margin}    " if margin else ""
            return textwrap.wrap(line, width, subsequent_indent=further, break_long_words=False)
        deep = f"{margin}    "
        below = textwrap.wrap(comment.strip(), width, initial_indent=deep, subsequent_indent=deep)
        return [*self._broken(margin + command, width), *below]

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-o, --output FILE`, as Python has it since 3.13."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        value = action.dest.upper() if self._is_too_wide(action) else value
        return f"{', '.join(action.option_strings)} {value}"

    def _expand_help(self, action: argparse.Action) -> str:
        words = ", ".join(map(str, action.choices or ()))
        choices = f"{words}: " if self._is_too_wide(action) else ""
        return choices + super()._expand_help(action)

    def _is_too_wide(self, action: argparse.Action) -> bool:
        """True if a list of choices does not fit beside its option: then it goes into the help."""
        words = ",".join(map(str, action.choices or ()))
        return action.metavar is None and len(f"  {action.option_strings} {words}") > self._width
