"""What a death outside outlive left behind: a log, a kernel's lines, a pasted message, or a core file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from outlive.diagnosis.caught import STAGE_OF_CALL
from outlive.diagnosis.corefile import CoreSeen, is_core, read_core
from outlive.diagnosis.ending import cause_of_end
from outlive.diagnosis.frames import operator_of, stage_in, stage_said
from outlive.diagnosis.messages import Match, matches
from outlive.diagnosis.nouns import AS_IT_IS, Conditions, Trial
from outlive.names import safe
from outlive.process.flight import Flight, OpSeen
from outlive.records import NOT_WRITTEN, in_document, written

# The end of a log tells most; what lies before this is not read.
_MOST_BYTES = 16 << 20
_MOST_LINES = 200_000
# A line of faulthandler's dump or of a traceback that names a method of an interpreter.
_CALL = re.compile(r'File "[^"]*\b(?:interpreter|compiled_model|tensor_buffer)\.py", line \d+,? in (\w+)')
_SIGNALS = {
    "SIGSEGV": ("unknown", "native code touched memory it does not have"),
    "SIGBUS": ("file-changed-while-mapped", "a mapped file was made shorter while it was in use"),
    "SIGABRT": ("unknown", "native code called abort(): a check failed, or the heap was found damaged"),
    "SIGFPE": ("int-min-divided-by-minus-one", "an integer division had no result"),
    "SIGILL": ("missing-runtime", "the processor lacks an instruction that the runtime was compiled for"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClueWords:
    """What a message says: its name in our table, who prints it, where it was seen, and what to do."""

    message: str
    source: str
    seen: str
    text: str
    named: dict[str, str]
    cause: str = field(metadata=written(null=True))
    meaning: str
    do: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """A message that was recognised: the first line it stood on, and how often it came."""

    match: Match = field(metadata=NOT_WRITTEN)
    line_number: int = field(metadata=written("line"))
    count: int

    @property
    @in_document(flat=True)
    def words(self) -> ClueWords:
        """What it says."""
        match, message = self.match, self.match.message
        return ClueWords(
            message=message.id,
            source=message.source,
            seen=message.seen,
            text=match.line,
            named=match.groups,
            cause=message.cause,
            meaning=match.meaning,
            do=match.advice,
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Autopsy:
    """What was found, the most telling clue first; `cause` is empty if nothing was recognised.

    `source` is where it was found, and `found` what it is: "text" or "core". `stage` and `op` are those that
    a stack, native or Python's, or a message names.
    """

    kind: ClassVar[str] = "autopsy"

    source: str = ""
    found: str
    cause: str = field(metadata=written(null=True))
    stage: str = field(default="", metadata=written(null=True))
    op: OpSeen | None = None
    meaning: str
    do: tuple[str, ...]
    clues: tuple[Clue, ...] = ()
    core: CoreSeen | None = None

    @property
    def outcome(self) -> str:
        """What it comes to, in one word: clean if something in it is known, else errors."""
        return "clean" if self.cause else "errors"

    def __repr__(self) -> str:
        """Where it was found, and what it means."""
        said = f"{self.cause or 'nothing known'}: {self.meaning}"
        return f"<Autopsy of {safe(self.source or self.found, 80)}: {safe(said, 200)}>"


def read_remains(data: bytes, path: str | None) -> Autopsy:
    """The autopsy of a core file or of a text, whatever it holds."""
    if is_core(data):
        return _of_core(read_core(data, path))
    text = data[-_MOST_BYTES:].decode("utf-8", errors="replace")
    return read_text(text)


def read_text(text: str) -> Autopsy:
    """The autopsy of a log or a pasted message."""
    lines = text.splitlines()[-_MOST_LINES:]
    clues = _clues(lines)
    if not clues:
        meaning = "none of its lines is one that outlive knows"
        return Autopsy(found="text", cause="", meaning=meaning, do=(_DIAGNOSE,))
    best = clues[0].match
    # A line that names no cause is helped out by the next that does.
    cause = next(
        (clue.match.message.cause for clue in clues if _tells(clue)), best.message.cause or "unknown"
    )
    return Autopsy(
        found="text",
        cause=cause,
        meaning=best.meaning,
        do=_advice(clues),
        clues=clues,
        stage=_stage(lines),
        op=_op(clues, lines),
    )


_DIAGNOSE = "run the model itself: outlive diagnose MODEL"


def _stage(lines: Sequence[str]) -> str:
    """The stage, by the call that Python's stack names, by native frames, or by what the runtime said."""
    calls = (_CALL.search(line) for line in lines)
    stages = (STAGE_OF_CALL.get(call.group(1)) for call in calls if call)
    named = next((stage for stage in stages if stage), "") or stage_in(lines)
    return named or next(filter(None, map(stage_said, lines)), "")


def _op(clues: Sequence[Clue], lines: Sequence[str]) -> OpSeen | None:
    """The operator that a message names, or the kernel in a pasted stack."""
    for groups in (clue.match.groups for clue in clues):
        kind, node = groups.get("op", ""), groups.get("node", "")
        if kind and "Delegate" not in kind:
            return OpSeen(type=kind, index=int(node) if node.isdigit() else None)
    named = operator_of(lines)
    return None if named is None else OpSeen(type=named)


def _clues(lines: list[str]) -> tuple[Clue, ...]:
    found: dict[str, Clue] = {}
    for number, line in enumerate(lines, 1):
        for match in matches(line):
            known = found.get(match.message.id)
            count = 1 if known is None else known.count + 1
            first = (match, number) if known is None else (known.match, known.line_number)
            found[match.message.id] = Clue(match=first[0], line_number=first[1], count=count)
    telling = [clue for clue in found.values() if clue.match.message.weight > 0] or list(found.values())
    return tuple(sorted(telling, key=lambda clue: (-clue.match.message.weight, clue.line_number)))


def _tells(clue: Clue) -> bool:
    return clue.match.message.cause not in ("", "unknown")


def _advice(clues: tuple[Clue, ...]) -> tuple[str, ...]:
    said = [words for clue in clues[:3] for words in clue.match.advice]
    return tuple(dict.fromkeys(said)) or (_DIAGNOSE,)


def _of_core(core: CoreSeen) -> Autopsy:
    cause, meaning = _SIGNALS.get(core.signal or "", ("unknown", "it ended by a signal that says little"))
    named, stage = operator_of(core.frames), stage_in(core.frames)
    op = None if named is None else OpSeen(type=named)
    flight = Flight(died=True, stage=stage, signal=core.signal, op=op, frames=core.frames)
    trial = Trial(name=AS_IT_IS, conditions=Conditions(source=""), flight=flight, seconds=0.0)
    told = cause_of_end(trial, (trial,))
    if told.cause != "unknown":
        cause, meaning = told.cause, told.why or meaning
    who = f"{core.command or 'a process'} ended by {core.signal or 'a signal that the file does not name'}"
    steps = [f"see its native stack: {command}" for command in core.commands]
    if core.frames:
        steps = []
    return Autopsy(
        found="core",
        cause=cause,
        meaning=f"{who}: {meaning}",
        do=(*(remedy.action for remedy in told.remedies), *steps, _DIAGNOSE),
        core=core,
        stage=stage,
        op=op,
    )
