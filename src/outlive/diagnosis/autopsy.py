"""What a death outside outlive left behind: a log, a kernel's lines, a pasted message, or a core file.

bytes ──► log_text ──► deaths ──► for each: messages, endings, stacks ──► the most telling ──► Autopsy
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from outlive.diagnosis.advice import KnownLimits, steps_that_hold
from outlive.diagnosis.corefile import CoreSeen, is_core, read_core
from outlive.diagnosis.deaths import LoggedDeath, read_deaths
from outlive.diagnosis.diagnosis_record import AS_IT_IS, Conditions, Trial
from outlive.diagnosis.error_diagnosis import STAGE_OF_CALL
from outlive.diagnosis.flight_cause import cause_of_end
from outlive.diagnosis.frame_hints import operator_of, operator_said, stage_in, stage_said
from outlive.diagnosis.log_text import LogLine, LogText, read_log
from outlive.diagnosis.messages import Match, code_of, known_messages, match_of
from outlive.diagnosis.stacks import Stack, known_frame, read_stack
from outlive.finding import Finding
from outlive.kernels.litert.kernel_signatures import has_kernel, runtime_version, signatures
from outlive.model.schema import load_schema
from outlive.names import safe
from outlive.process.flight import Flight, OpSeen
from outlive.records import NOT_WRITTEN, in_document, written
from outlive.results import Result, file_name
from outlive.rules import find_rule
from outlive.rules.logged import LoggedFault, finding_of

# The rule on a runtime that is older than the model.
_OLDER_RUNTIME = "E421"
_CONVERT_AGAIN = (
    "convert the model again with a converter of about the runtime's age: "
    "python -m pip install 'tensorflow==VERSION'",
    "see what else is in the file: outlive read FILE --ops",
)
_DIAGNOSE = "run the model itself: outlive diagnose MODEL"
# Rows below this weight only repeat that something failed.
_TELLING = 3
_MOST_CLUES, _MOST_STEPS = 20, 6
_MOST_COMMAND = 80
# Whose Python code, and which exceptions, may speak for a runtime.
_RUNTIMES = ("tensorflow", "keras", "litert", "tflite", "interpreter", "edgetpu", "coral", "mediapipe")
_OF_RUNTIMES = ("RuntimeError", "SystemError", "InternalError")
_PACKAGE = re.compile(r"(?:site|dist)-packages[/\\](\w+)")
# Rows for exceptions by the functions that they came through, the most telling first.
_PLACES = (
    (
        "exception-convert",
        re.compile(
            r"lite[/\\]python[/\\](?:convert|lite|optimize|util)|TFLiteConverter|litert_torch|ai_edge_torch|onnx2tf|"
            r"[/\\](?:tf2onnx|onnx_tf)[/\\]"
        ),
    ),
    ("exception-delegate", re.compile(r"(?i) (?:load_delegate|applyDelegate\w*|\S*Delegate\.<init>)\b")),
    (
        "exception-keras-load",
        re.compile(
            r"(?:saving|serialization|legacy|models)\S*\.py "
            r"(?:load_model|\w*from_config|deserialize\w*|load_weights\w*)\b"
        ),
    ),
    (
        "exception-java-model",
        re.compile(
            r"NativeInterpreterWrapper\.create|\bInterpreter(?:Api)?\.(?:<init>|create)|FileUtil\.load|loadModelFile"
        ),
    ),
    (
        "exception-java-run",
        re.compile(
            r"org\.tensorflow\.lite\.\S*\.(?:run\w*|setTo|throwIf\w+|copyTo|resizeInput|allocateTensors|checkNotClosed)\b"
        ),
    ),
)
# A line typed into Python, IPython, or given to it in a shell.
_TYPED = re.compile(r"""^(?:>>> |In \[\d+\]: )(.+)|.*\bpython[\d.]* -c (?:"([^"]+)"|'([^']+)')""")
# Words without which a log is about something else.
_OF_MODELS = re.compile(rf"(?i){'|'.join(_RUNTIMES)}|tpu|tensor|delegate|inference|\bmodel|\bnn\b|onnx|torch")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherDeath:
    """A death that stands earlier in the same log: its last line, its cause and what it means."""

    line_number: int = field(metadata=written("line"))
    code: str = field(default="", metadata=written(null=True))
    cause: str = field(default="", metadata=written(null=True))
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Autopsy(Result):
    """What was found, the most telling clue first; `cause` is empty if nothing was recognised.

    `source` is where it was found, and `found` what it is: "text" or "core". `stage` and `op` are those that
    a stack, native or Python's, or a message names. `code` is the rule that judges this fault everywhere.
    `where` is the line of the user's own code, the thread and the library as far as stacks name them.
    `others` are deaths that came before in the same log; `not_read` is what was left out of a large log.
    `model` is the file that the log names; `findings` are what is wrong with it, where it could be read.
    """

    kind: ClassVar[str] = "autopsy"
    tables = (("clues", Clue),)

    source: str = ""
    found: str
    code: str = field(default="", metadata=written(null=True))
    cause: str = field(metadata=written(null=True))
    signal: str = field(default="", metadata=written(null=True))
    stage: str = field(default="", metadata=written(null=True))
    op: OpSeen | None = None
    where: str = field(default="", metadata=written(null=True))
    meaning: str
    do: tuple[str, ...]
    clues: tuple[Clue, ...] = ()
    others: tuple[OtherDeath, ...] = ()
    not_read: str = field(default="", metadata=written(null=True))
    model: str = field(default="", metadata=written("path", null=True))
    findings: tuple[Finding, ...] = ()
    frames: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)
    core: CoreSeen | None = None

    @property
    def outcome(self) -> str:
        """What it comes to, in one word: clean if something in it is known, else errors."""
        return "clean" if self.cause else "errors"

    @property
    def finding(self) -> Finding | None:
        """What it comes to as a finding, with the code it has everywhere; None if no rule is meant."""
        if self.findings and self.findings[0].code == self.code:
            return self.findings[0]
        rule = find_rule(self.code) if self.code else None
        if rule is None:
            return None
        lines = tuple(clue.match.line for clue in self.clues[:1]) or (self.meaning,)
        place = ", ".join(filter(None, (self.stage, self.where)))
        fault = LoggedFault(
            code=self.code, lines=lines, meaning=self.meaning, do=self.do, where=place, cause=self.cause
        )
        return finding_of(rule, fault)

    def _summary(self) -> tuple[str, str]:
        """Where it was found, and what it means."""
        return file_name(self.source or self.found), f"{self.cause or 'nothing known'}, {self.meaning}"


def read_remains(data: bytes, path: str | None, unread: str = "") -> Autopsy:
    """The autopsy of a core file or of a text, whatever it holds."""
    if is_core(data):
        return _of_core(read_core(data, path))
    return _of_log(read_log(data, unread))


def read_text(text: str) -> Autopsy:
    """The autopsy of a log or a pasted message."""
    return read_remains(text.encode(errors="replace"), None)


def _of_log(log: LogText) -> Autopsy:
    if not log.lines or log.binary:
        what = "it is binary data, not the text of a log, nor a core file" if log.lines else "it is empty"
        do = "give the log as text, or the core file that the process left: outlive autopsy CORE"
        return Autopsy(found="text", cause="", meaning=what, do=(do,), not_read=log.unread)
    deaths = read_deaths(log.lines)
    judged = [answer for answer in map(_judged, deaths) if answer is not None]
    if not judged:
        return replace(_unknown(log.lines), not_read=log.unread)
    answer = judged[-1]
    others = tuple(_as_other(answer) for answer in judged[:-1] if answer.clues)
    return replace(answer, others=others[-_MOST_CLUES:], not_read=log.unread)


def _as_other(answer: Autopsy) -> OtherDeath:
    line = max(clue.line_number for clue in answer.clues)
    return OtherDeath(line_number=line, code=answer.code, cause=answer.cause, meaning=answer.meaning)


def _unknown(lines: Sequence[LogLine]) -> Autopsy:
    """A log in which nothing is known: whose code failed is still named."""
    stack = read_stack(lines)
    meaning = "none of its lines is one that outlive knows"
    if not _OF_MODELS.search("\n".join(line.text for line in lines)):
        meaning += ", and none names TensorFlow Lite or a model: the log is probably not about a model"
    return Autopsy(found="text", cause="", meaning=meaning, do=(_DIAGNOSE,), where=_where(stack, None))


def _judged(death: LoggedDeath) -> Autopsy | None:
    """What one death comes to; None if nothing in it is known."""
    stack = read_stack(death.lines)
    clues = _clues(death, stack)
    if not clues:
        return None
    best = clues[0].match
    # A line that names no cause is helped out by the next that does, if that is about the same.
    cause = best.message.cause
    if not cause:
        cause = next((clue.match.message.cause for clue in clues if _tells(clue)), "unknown")
    groups = {"thread": stack.thread} if stack.thread else {}
    best = replace(best, groups=groups | best.groups)
    code, meaning, do = best.message.code or code_of(cause), best.meaning, _advice(clues, best)
    if code == _OLDER_RUNTIME and (newest := _without_kernel(best.groups)):
        code, meaning, do = newest
    do = steps_that_hold(do, KnownLimits(code=code)) or (_DIAGNOSE,)
    return Autopsy(
        found="text",
        code=code,
        cause=cause,
        signal=death.signal,
        meaning=meaning,
        do=do,
        clues=clues[:_MOST_CLUES],
        stage=best.message.stage or _stage(death.lines),
        op=_op(clues, death.lines),
        where=_where(stack, best),
        frames=tuple(frame.function for frame in stack.native if frame.function),
    )


def _clues(death: LoggedDeath, stack: Stack) -> tuple[Clue, ...]:
    """Every message of a death, the most telling first: lines, the ending, the stack."""
    found: dict[str, Clue] = {}
    found_in = (*death.matches, *_of_ending(death), *_of_stack(death, stack), *_of_exception(death, stack))
    for match, number in found_in:
        known = found.get(match.message.id)
        if known is None:
            found[match.message.id] = Clue(match=match, line_number=number, count=1)
        elif _is_of_model(match) and not _is_of_model(known.match):
            found[match.message.id] = Clue(match=match, line_number=number, count=known.count + 1)
        else:
            whole = replace(known.match, groups=match.groups | known.match.groups)  # it may be on two lines
            found[match.message.id] = replace(known, match=whole, count=known.count + 1)
    telling = [clue for clue in found.values() if clue.match.message.weight > 0]
    reasons = [clue for clue in telling if not _is_outlived(clue, death)]
    return tuple(sorted(reasons or telling, key=lambda clue: (-clue.match.message.weight, clue.line_number)))


def _is_outlived(clue: Clue, death: LoggedDeath) -> bool:
    """True for what programs live on with, such as a GPU that is not there, where it ended later."""
    last = max((item.number for item in (death.raised,) if item), default=0)
    last = max(last, death.ending.line_number if death.ending is not None else 0)
    return clue.match.message.aside and last > clue.line_number


def _is_of_model(match: Match) -> bool:
    """True if the process that a line names is one that runs models, among several that were killed."""
    return "python" in match.groups.get("name", "")


def _of_ending(death: LoggedDeath) -> Iterator[tuple[Match, int]]:
    if death.ending is None or death.aborts_wordless:
        return
    stage = _stage(death.lines)
    for row in known_messages():
        if stage and row.stage and row.stage != stage:
            continue  # the words it looks for stand in another place: a call before the one that it died in
        if row.signal == death.ending.signal and row.allows(death.text):
            yield match_of(row, death.ending.text, {}), death.ending.line_number


def _of_stack(death: LoggedDeath, stack: Stack) -> Iterator[tuple[Match, int]]:
    """What the native stack says; a stack without a frame of a runtime is about something else."""
    if death.ending is None and not stack.native:
        return
    named = known_frame(stack.native, death.text)
    thread = {"thread": stack.thread or "?"}
    if named is not None:
        match, frame = named
        yield replace(match, groups=thread | match.groups), frame.at
    elif (culprit := stack.culprit) is not None and len(stack.native) > 1:
        row = next(row for row in known_messages() if row.id == "frame-other")
        groups = {"function": culprit.function or "?", "library": culprit.library or "the program"}
        yield match_of(row, culprit.function, {**thread, **groups}), culprit.at


def _of_exception(death: LoggedDeath, stack: Stack) -> Iterator[tuple[Match, int]]:
    """The exception that ended it, where no row of the tables knows its message: by where it was raised."""
    raised = death.raised
    explained = any(number >= raised.number for _, number in death.matches) if raised else False
    if raised is None or explained or (death.ending is not None and not death.aborts_wordless):
        return
    kind = raised.text.removeprefix("Caused by: ").partition(":")[0].strip().rpartition(".")[2]
    wanted, package = _place_raised(stack, kind, death.text)
    row = next(row for row in known_messages() if row.id == wanted)
    yield match_of(row, raised.text, {"type": kind, "package": package}), raised.number


def _place_raised(stack: Stack, kind: str, text: str) -> tuple[str, str]:
    """The row for an exception by the place it was raised in, and the package it lies in."""
    frames = [frame for frame in stack.frames if frame.kind in ("python", "java")]
    last = frames[-1].file if frames and frames[-1].kind == "python" else ""
    found = _PACKAGE.search(last)
    package = found[1] if found else ""
    if package and frames[-1].function == "<module>":
        return "exception-import", package
    place = "\n".join(f"{frame.file} {frame.function}" for frame in frames)
    for row, pattern in _PLACES:
        if pattern.search(place):
            return row, package
    of_runtime = kind in _OF_RUNTIMES or any(word in last.lower() for word in _RUNTIMES)
    outside = _OF_MODELS.search(text) is None if not last and frames else bool(last) and not of_runtime
    return "exception-of-program" if outside else "exception-unknown", package


def _without_kernel(groups: Mapping[str, str]) -> tuple[str, str, tuple[str, ...]] | None:
    """Code, meaning and advice where not even the newest known runtime has the kernel; None if it has."""
    kind, said, number = (groups.get(name, "") for name in ("op", "version", "number"))
    newest = runtime_version()
    if number and int(number) not in load_schema().enums["BuiltinOperator"].names:
        why = f"the model has an operator of code {number}, which the schema of {newest} does not have"
        return "F114", f"{why}: a newer converter wrote it, or the file is damaged", _CONVERT_AGAIN
    if not kind.isupper() or not said.isdigit() or has_kernel(kind, int(said)):
        return None  # the newest one has it: the runtime of the log is older
    if kind in signatures():
        low, high = signatures()[kind].versions
        why = f"the model needs version {said} of {kind}, and {newest} has versions {low} to {high}"
        return "O123", f"{why}: no runtime has it yet", _CONVERT_AGAIN
    why = f"the schema has the operator {kind}, and the runtime has no kernel for it; nor has {newest}"
    again = "convert the model again, with TensorFlow Lite's own operators as its target"
    return "O122", why, (again, "see which operators lack a kernel: outlive check FILE")


def _stage(lines: Sequence[LogLine]) -> str:
    """The stage, by the call that Python's stack names, by native frames, or by what the runtime said."""
    stack = read_stack(lines)
    calls = [
        STAGE_OF_CALL.get(frame.function.rpartition(".")[2].strip())
        for frame in stack.frames
        if frame.kind != "native"
    ]
    texts = [line.text for line in lines]
    named = next((stage for stage in calls if stage), "") or stage_in(texts)
    named = named or next(filter(None, map(stage_said, texts)), "")
    importing = any(frame.file.startswith("<frozen importlib") for frame in stack.frames)
    return named or ("import" if importing else _stage_typed(texts))


def _stage_typed(texts: Sequence[str]) -> str:
    """The stage by the last line that was typed into Python before it died; empty if none was."""
    typed = [found for text in texts if (found := _TYPED.match(text))]
    line = next(filter(None, typed[-1].groups()), "") if typed else ""
    if re.match(r"(?:import|from)\b[^;]*$", line):
        return "import"
    calls = [STAGE_OF_CALL.get(name) for name in re.findall(r"\.(\w+)\(", line)]
    made = "load" if re.search(r"\bInterpreter\(", line) else ""
    return next(filter(None, reversed(calls)), "") or made


def _op(clues: Sequence[Clue], lines: Sequence[LogLine]) -> OpSeen | None:
    """The operator that a message names, or the kernel in a pasted stack."""
    named = [clue.match.groups for clue in clues]
    kinds = [groups["op"] for groups in named if "Delegate" not in groups.get("op", "Delegate")]
    if kinds:
        nodes = (groups.get("node", "") for groups in named if groups.get("op") == kinds[0])
        node = next((node for node in nodes if node.isdigit()), "")
        return OpSeen(type=kinds[0], index=int(node) if node else None)
    texts = [line.text for line in lines]
    kernel = operator_of(texts)
    return operator_said(texts) if kernel is None else OpSeen(type=kernel)


def _where(stack: Stack, best: Match | None) -> str:
    """The user's own line, the thread, and the native function, as far as the stacks name them."""
    parts = []
    if stack.own is not None:
        function = f" ({stack.own.function})" if stack.own.function else ""
        parts.append(f"your line {stack.own.place}{function}")
    culprit = stack.culprit
    if culprit is not None and (best is None or not best.message.frame):
        parts.append(f"{culprit.function or '?'}{f' in {culprit.library}' if culprit.library else ''}")
    if stack.thread and culprit is not None:
        parts.append(f"thread {stack.thread}")
    return safe(", ".join(parts), 300)


def _tells(clue: Clue) -> bool:
    return clue.match.message.cause not in ("", "unknown")


def _advice(clues: tuple[Clue, ...], best: Match) -> tuple[str, ...]:
    """What to do about the best clue; of the next, if the best one says little."""
    said = [*best.advice]
    if best.message.weight < _TELLING:
        said += [words for clue in clues[1:3] for words in clue.match.advice]
    return tuple(dict.fromkeys(said))[:_MOST_STEPS] or (_DIAGNOSE,)


_SIGNALS = {
    "SIGSEGV": ("unknown", "native code used an invalid address (segmentation fault)"),
    "SIGBUS": ("file-changed-while-mapped", "a mapped file was made shorter while it was in use"),
    "SIGABRT": ("unknown", "native code called abort(): a check failed, or the heap was found damaged"),
    "SIGFPE": ("int-min-divided-by-minus-one", "an integer division had no result"),
    "SIGILL": ("missing-runtime", "the processor lacks an instruction that the runtime was compiled for"),
}


def _code_of_signal(signal: str) -> str:
    """The rule that a log of such an end has, where it says no more."""
    rows = (row.code for row in known_messages() if row.signal == signal and row.allows(""))
    return next(filter(None, rows), "")


def _of_core(core: CoreSeen) -> Autopsy:
    cause, meaning = _SIGNALS.get(core.signal or "", ("unknown", "it ended by a signal that says little"))
    named, stage = operator_of(core.frames), stage_in(core.frames)
    op = None if named is None else OpSeen(type=named)
    flight = Flight(died=True, stage=stage, signal=core.signal, op=op, frames=core.frames)
    trial = Trial(name=AS_IT_IS, conditions=Conditions(source=""), flight=flight, seconds=0.0)
    end = cause_of_end(trial, (trial,))
    if end.cause != "unknown":
        cause, meaning = end.cause, end.why or meaning
    command = safe(core.command, _MOST_COMMAND) if core.command else "a process"
    who = f"{command} ended by {core.signal or 'a signal that the file does not name'}"
    steps = [f"see its native stack: {command}" for command in core.commands]
    if core.frames:
        steps = []
    return Autopsy(
        found="core",
        code=code_of(cause) or _code_of_signal(core.signal or ""),
        cause=cause,
        signal=core.signal or "",
        meaning=f"{who}: {meaning}",
        do=(*(remedy.action for remedy in end.remedies), *steps, _DIAGNOSE),
        core=core,
        frames=core.frames,
        stage=stage,
        op=op,
    )
