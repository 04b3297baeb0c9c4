"""Draws findings as text: once as lines, which a terminal colours and wraps and a log takes plain.

    error[O109]: Invalid operator option: radius = -16
      model.tflite, operator 3, LOCAL_RESPONSE_NORMALIZATION (layer block1/lrn)
      Fix: convert the model again
      The kernel reserves this many channels on each side.
      Confidence: certain · Details: outlive explain O109

The fix stands before the reason: cause and next step are in the first three lines. With detail come all
evidence with its sources, and the other remedies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outlive.finding import Finding, Remedy, Severity
from outlive.names import safe, sentence, whole
from outlive.units import plural

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_LIMIT = 300
_LEAST_WIDTH = 20
# Quotes and backslashes keep blanks together, as in a shell.
_SHELL_WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"])*"|\\.|[^\s'"])+""")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text: what it begins with, its words, and how far the lines that follow from it are indented.

    A command is never broken inside a word; where it is too long, a backslash ends each of its lines.
    """

    start: str
    text: str
    style: str = ""
    start_style: str = "dim"
    hang: int | None = None
    is_command: bool = False

    @property
    def indent(self) -> int:
        """Where its second line begins."""
        return len(self.start) if self.hang is None else self.hang


def finding_lines(finding: Finding, detail: int = 0) -> Iterator[Line]:
    """The finding, line by line; with `detail` all that is known of it."""
    head = f"{finding.severity.value}[{finding.code}]"
    yield Line(head, f": {safe(finding.headline, _LIMIT)}", "bold", _STYLE[finding.severity], hang=4)
    if finding.where and finding.where not in finding.headline:
        yield Line("  ", safe(finding.where, _LIMIT))
    if finding.remedies:
        yield from _remedy(finding.remedies[0], "  Fix: ", detail)
    if not detail and ": " not in finding.headline:  # else the headline names what was seen
        yield Line("  ", safe(sentence(finding.evidence[0].fact), _LIMIT))
    if finding.why:
        yield Line("  ", safe(sentence(finding.why), 2 * _LIMIT))
    if detail:
        yield Line("  ", "Evidence:", "dim")
        for item in finding.evidence:
            yield Line("    - ", f"{safe(item.fact, _LIMIT)} ({safe(item.source, _LIMIT)})")
        if finding.remedies[1:]:
            yield Line("  ", "Other fixes:", "dim")
        for remedy in finding.remedies[1:]:
            yield from _remedy(remedy, "    - ", detail)
    last = f"Confidence: {safe(finding.confidence, _LIMIT)} · Details: outlive explain {finding.code}"
    yield Line("  ", last, "dim")


def _remedy(remedy: Remedy, start: str, detail: int) -> Iterator[Line]:
    effect = f": {remedy.effect}" if remedy.effect else ""
    tag = f" [{remedy.tag.value}]" if detail else ""
    yield Line(start, f"{safe(remedy.action + effect, 2 * _LIMIT)}{tag}", start_style="bold")
    if remedy.command:
        yield Line(" " * len(start), whole(remedy.command), "green", is_command=True)


def brief_line(finding: Finding) -> Line:
    """Its first line alone, below a heading."""
    head = f"  {finding.severity.value}[{finding.code}]"
    return Line(head, f": {safe(finding.headline, _LIMIT)}", start_style=_STYLE[finding.severity], hang=4)


def one_line(path: str, finding: Finding, where: str) -> Line:
    """The finding in a line, as compilers write them: the file first."""
    head = f"{safe(path, _LIMIT)}: {finding.severity.value}[{finding.code}]"
    return Line(
        head, f" {safe(finding.headline, _LIMIT)}{where}", start_style=_STYLE[finding.severity], hang=4
    )


def plain_finding(finding: Finding, detail: int = 0) -> str:
    """The finding as plain text, for exceptions, logs and pipes: no line is broken."""
    return "\n".join(f"{line.start}{line.text}" for line in finding_lines(finding, detail))


def rich_finding(finding: Finding, detail: int = 0) -> Wrapped:
    """The finding as coloured text that wraps where the terminal ends, with hanging indents."""
    return Wrapped(finding_lines(finding, detail))


class Wrapped:
    """Lines that wrap where the terminal ends: what follows from one is indented."""

    def __init__(self, lines: Iterable[Line]) -> None:
        """Draw these lines."""
        self.lines = tuple(lines)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines, in the width that the terminal has."""
        for line in self.lines:
            yield from _wrap(line, console, options.max_width)


def _wrap(line: Line, console: Console, width: int) -> Iterator[Text]:
    from rich.text import Text

    room = max(width - line.indent, _LEAST_WIDTH)
    start, body = (line.start, line.start_style), Text(line.text, line.style)
    if line.hang is not None:
        start, body = ("", ""), Text.assemble(start, body)
    if line.hang is not None and body.cell_len <= width:
        room = width  # the first line has no indent, and may be all there is
    commands = command_lines(line.text, room) if line.is_command else ()
    parts = [Text(part, line.style) for part in commands] or list(body.wrap(console, room))
    for number, part in enumerate(parts):
        part.rstrip()
        before = start if number == 0 else " " * line.indent
        yield Text.assemble(before, part, no_wrap=True, overflow="ignore")


def command_lines(command: str, width: int) -> list[str]:
    """A command in lines of at most `width`, if its words allow it; pasted, they are the same command."""
    lines, line = [], ""
    for word in _pieces(command) if len(command) > width else [command]:
        if line and len(line) + len(word) + 3 > width:
            lines.append(f"{line} \\")
            line = f"  {word}"
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def _pieces(command: str) -> list[str]:
    """The words of a command, each option with its value."""
    pieces: list[str] = []
    for word in _SHELL_WORD.findall(command):
        if pieces and pieces[-1].startswith("-") and " " not in pieces[-1] and not word.startswith("-"):
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
    return pieces


def count_findings(findings: Iterable[Finding]) -> str:
    """How many findings of each severity: `1 error, 2 notes`."""
    counts = dict.fromkeys(Severity, 0)
    for finding in findings:
        counts[finding.severity] += 1
    said = [plural(count, severity.value) for severity, count in counts.items() if count]
    return ", ".join(said) or "none"
