"""Finds the deaths in a log: which lines tell of one, and where the next one begins.

A new run (a prompt with a command, a service that starts, a board that boots, a traceback that no other one
led to) begins a new death if the one before it has ended. Lines before a death belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from outlive.diagnosis.endings import Ending, ending_in
from outlive.diagnosis.log_text import LogLine
from outlive.diagnosis.messages import Match, matches

# What begins another run. Only a line that can stand before a death, never in the middle of one.
_RUN_STARTS = re.compile(
    r"^(?:\([\w.-]+\) ?)?[\w.-]+@[\w.-]+[:~ ][^$#%>]{0,80}[$#%>] \S|^\$ \S|"
    r"^PS [A-Z]:[^>]*> ?\S|^[A-Z]:\\[^>]*> ?\S|^(?:Started|Starting) \S.*(?:\.\.\.|\.)$|"
    r"Scheduled restart job|^rst:0x|^ets [A-Z][a-z]{2} |ESP-ROM:|Booting Zephyr|"
    r"=+ test session starts|^_{3,} \S.* _{3,}$|^Starting program:|^Attaching to |Kernel started:"
)
# What begins another death only after one: lines before it may well be the reason of this one.
_NEXT_DEATH = re.compile(r"^FATAL EXCEPTION|^-+ beginning of crash|^Traceback \(most recent call last\)")
_SAME_TRACEBACK = re.compile(
    r"During handling of the above exception|direct cause of the following exception"
)
_EXCEPTION = re.compile(
    r"^(?:Caused by: )?(?:[A-Za-z_][\w$]*\.)*[A-Z]\w*"
    r"(?:Error|Exception|Interrupt|Exit|Failure|Died|Warning)(?::|$)"
)
_TRACE = re.compile(
    r"^\s+\S|^Traceback|^\s*at \S|^Caused by|^\.\.\. \d+ more|^\s*\^|^Exception ignored|^$|^Process:|^#\d+ "
)
# A setting that is off says nothing: benchmark_model prints `Use nnapi : [0]`.
_SWITCHED_OFF = re.compile(r"(?i)^\W*(?:use|enable)[ _]\w[^:=]{0,40}[:=] ?\[?(?:0|false|no|off)\]?$")
# Messages of this weight name a death of their own.
_STRONG = 5
_CRASHES = frozenset({"SIGSEGV", "SIGABRT", "SIGTRAP", "SIGBUS", "SIGILL", "SIGFPE"})
# After an exception, so many lines of ordinary progress mean that the program lived on.
_PROGRESS = 2
# After an uncaught one, a program prints no more lines than this before it ends.
_MOST_PROGRESS = 12


@dataclass(slots=True, kw_only=True)
class LoggedDeath:
    """Lines up to the next death: what they matched, how it ended if a line says so, and the whole text."""

    lines: list[LogLine] = field(default_factory=list)
    matches: list[tuple[Match, int]] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    exceptions: int = 0
    tracebacks: int = 0
    raised: LogLine | None = None
    progress: int = 0
    text: str = ""

    @property
    def ending(self) -> Ending | None:
        """The last line that says how it ended."""
        return self.endings[-1] if self.endings else None

    @property
    def signal(self) -> str:
        """The signal it ended by; empty if no line says so."""
        return self.ending.signal if self.ending is not None else ""

    @property
    def aborts_wordless(self) -> bool:
        """True if no line after an exception names another failure, but for the bare word of an abort."""
        raised = self.raised
        if raised is None or (self.endings and self.signal != "SIGABRT"):
            return False
        return not any(line.number > raised.number and _is_strong(line) for line in self.lines)

    @property
    def over(self) -> bool:
        """True if something in it tells of a death."""
        return bool(
            self.endings or self.exceptions or any(m.message.weight >= _STRONG for m, _ in self.matches)
        )


def read_deaths(lines: Sequence[LogLine]) -> list[LoggedDeath]:
    """The deaths of a log in their order; one that holds every line if there is no sign of any."""
    deaths = list(_split(lines))
    for death in deaths:
        tags = dict.fromkeys(line.tag for line in death.lines if line.tag)
        telling = (line.text for line in death.lines if not _SWITCHED_OFF.match(line.text))
        death.text = "\n".join((*telling, *tags))
        for line in death.lines:
            if not _is_progress_of_runtime(line):
                death.matches += [(match, line.number) for match in matches(line.text, death.text)]
        death.matches = _without_asides(death)
    return deaths


def _without_asides(death: LoggedDeath) -> list[tuple[Match, int]]:
    """Without the warnings before an exception: it has an own reason, which its own lines may tell."""
    raised = death.raised
    if raised is None or death.endings:
        return death.matches
    warned = {line.number for line in death.lines if line.level == "W" and line.number < raised.number}
    return [(match, number) for match, number in death.matches if number not in warned]


def _is_progress_of_runtime(line: LogLine) -> bool:
    """True for lines of level INFO by TensorFlow and its Lite, which are never a cause."""
    return line.level in ("I", "V", "D") and (not line.tag or line.tag in ("tflite", "tensorflow", "absl"))


def _split(lines: Sequence[LogLine]) -> Iterator[LoggedDeath]:
    current, joined = LoggedDeath(), False
    for line in lines:
        ending = ending_in(line.text, line.number)
        raises = _EXCEPTION.match(line.text) is not None
        if not joined and _begins_another(current, line, ending, raises):
            yield current
            current = LoggedDeath()
        joined = _SAME_TRACEBACK.search(line.text) is not None or (joined and not line.text.strip())
        current.lines.append(line)
        current.tracebacks += _NEXT_DEATH.search(line.text) is not None
        if ending is not None:
            current.endings.append(ending)
        if raises:
            current.exceptions, current.raised = current.exceptions + 1, line
        if ending or raises:
            current.progress = 0
        elif current.exceptions and not _TRACE.search(line.text):
            current.progress += 1
    if current.lines:
        yield current


def _begins_another(current: LoggedDeath, line: LogLine, ending: Ending | None, raises: bool) -> bool:
    known = bool(current.endings or current.exceptions)
    if _NEXT_DEATH.search(line.text):
        # NumPy and others print an exception before the traceback that it leads to.
        return known and (current.tracebacks > 0 or bool(current.endings) or current.progress >= _PROGRESS)
    if _RUN_STARTS.search(line.text):
        return known or any(_is_strong(item) for item in current.lines)
    if current.endings and ending is not None:
        return not _may_be_one(current.endings[-1].signal, ending.signal)
    if ending is not None and current.exceptions and not current.endings:
        # An exception is not what a process is killed for; and one that was survived is no part of this.
        lived_on = current.progress >= _PROGRESS and not _may_follow(current, line, ending)
        return ending.signal == "SIGKILL" or lived_on
    return bool(raises and current.endings and current.progress >= _PROGRESS)


def _may_be_one(first: str, second: str) -> bool:
    """True if two endings may be one death told twice: a crash is often told as the abort that follows it."""
    return first == second or {first, second} <= {
        "SIGSEGV",
        "SIGABRT",
        "SIGTRAP",
        "SIGBUS",
        "SIGILL",
        "SIGFPE",
    }


def _may_follow(current: LoggedDeath, line: LogLine, ending: Ending) -> bool:
    """True for an abort without a message: many programs end so after an uncaught exception."""
    return (
        ending.signal == "SIGABRT"
        and current.progress <= _MOST_PROGRESS
        and not _is_strong(line)
        and current.aborts_wordless
    )


def _is_strong(line: LogLine) -> bool:
    return any(match.message.weight >= _STRONG for match in matches(line.text))
