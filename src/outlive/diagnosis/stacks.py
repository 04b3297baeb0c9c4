"""Reads stacks as debuggers and systems print them: which function, in which library, of which file.

gdb, lldb, sanitizers, faulthandler, tombstones, Apple reports, glibc, valgrind, HotSpot, Java, Windows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from outlive.diagnosis.log_text import LogLine
from outlive.diagnosis.messages import Match, known_messages, match_of

_ADDRESS = r"0x[0-9a-fA-F]+"
# Each form of a frame with what it names; the first that fits is taken.
_FORMS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        # Android: #00 pc 0000000000012345  /data/app/x/lib/arm64/libfoo.so (function+12) (BuildId: ...)
        (
            "native",
            r"^\s*#\d+\s+pc\s+(?:0x)?[0-9a-fA-F]+\s+(?P<library>\S+)(?:\s+\(offset [^)]*\))?"
            r"(?:\s+\((?!BuildId)(?P<function>.+?)(?:\+\d+)?\))?(?:\s+\(BuildId.*)?$",
        ),
        # crash services: 6 : 0002343f /vendor/lib/libfoo.so (function+30), or with | and #00 pc
        (
            "native",
            r"^\s*\d+\s*[:|]\s*(?:#\d+\s+)?(?:pc\s+)?[0-9a-fA-F]{6,16}\s+(?P<library>/\S+)"
            r"(?:\s+\((?P<function>.+?)(?:\+\d+)?\))?$",
        ),
        # lldb: frame #0: 0x0000 libfoo.dylib`function + 12 at file.cc:3
        (
            "native",
            rf"^\s*\*?\s*frame #\d+: (?:{_ADDRESS} )?(?P<library>[^`\s]+)`(?P<function>.+?)(?: \+ \d+)?"
            r"(?: at (?P<file>[^\s:]+):(?P<line>\d+).*)?$",
        ),
        # Apple: 0   libfoo.dylib   0x0000 function + 12
        (
            "native",
            rf"^\s*\d+\s+(?P<library>[\w.+-]+(?: \w+)?)\s+{_ADDRESS}\s+(?P<function>.+?)"
            r"(?: \+ \d+)?(?: \((?P<file>[\w.+-]+):(?P<line>\d+)\))?$",
        ),
        # sanitizers: #0 0x0000 in function file.cc:3:5, or (library+0x12)
        (
            "native",
            rf"^\s*#\d+ {_ADDRESS} in (?P<function>.+?) "
            rf"(?:\((?P<library>[^()\s]+)\+{_ADDRESS}\).*|(?P<file>/[^\s:]+):(?P<line>\d+).*)$",
        ),
        ("dart", r"^\s*#\d+\s+(?P<function>\S.*?) \((?P<library>package:[^:)]+):(?P<line>\d+)"),
        # gdb: #1  0x0000 in function (arguments) at file.cc:3, or from library
        (
            "native",
            rf"^\s*#\d+\s+(?:{_ADDRESS} in )?"
            r"(?P<function>(?:operator\(\)|\(anonymous namespace\)|[^(])+?)\s*\(.*?"
            r"(?:\) at (?P<file>[^\s:]+):(?P<line>\d+)|\)\s+from (?P<library>\S+)|\).*|$)",
        ),
        # valgrind: ==7==    by 0x0000: function (file.cc:3), or (in library)
        (
            "native",
            rf"^==\d+==\s+(?:at|by) {_ADDRESS}: (?P<function>.+?) "
            r"\((?:in (?P<library>[^)]+)|(?P<file>[^:)]+):(?P<line>\d+))\)$",
        ),
        # glibc: /lib/libfoo.so(function+0x12)[0x0000], and as absl prints it: @ 0x0000 (nil) function
        (
            "native",
            rf"^\s*(?P<library>[\w./+-]+)\((?P<function>[^()]*?)(?:\+{_ADDRESS})?\)\s?\[{_ADDRESS}\]",
        ),
        ("native", rf"^\s*@\s+{_ADDRESS}\s+(?:\(nil\)|\d+|{_ADDRESS})?\s+(?P<function>[A-Za-z_].*)$"),
        # HotSpot: C  [libfoo.so+0x12]  function+0x3
        (
            "native",
            rf"^#?\s*[CVJj]\s+\[(?P<library>[^\]+]+)\+{_ADDRESS}\](?:\s+(?P<function>.+?)(?:\+{_ADDRESS})?)?$",
        ),
        # Windows: module!function+0x12
        (
            "native",
            r"^\s*(?:[0-9a-f`]+ [0-9a-f`]+ )?(?P<library>[\w.-]+)!(?P<function>[\w:~<>,. ]+)"
            rf"(?:\+{_ADDRESS})?",
        ),
        # Python, tracebacks and faulthandler: File "x.py", line 3, in f
        ("python", r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+),? in (?P<function>.+)$'),
        # IPython 8, 7: File ~/x.py:3, in f(a), and /x.py in f(a); a cell: Cell In[2], line 3
        (
            "python",
            r"^(?:File )?(?P<file>(?:~|/|[A-Za-z]:[/\\])[^:\n]*\.py):(?P<line>\d+),? "
            r"in (?P<function>[\w<>.]+)",
        ),
        ("python", r"^(?P<file>(?:~|/|[A-Za-z]:[/\\])[^:\n]*\.py) in (?P<function>[\w<>.]+)"),
        ("python", r"^(?P<file>(?:Cell|Input) In ?\[\d+\]),? (?:line (?P<line>\d+)|in )(?P<function>)"),
        ("python", r"^(?P<file><ipython-input-\d+-\w+>) in (?P<function>[\w<>.]+)"),
        ("java", r"^\s*at (?P<function>[\w.$]+\.[\w$<>]+)\((?P<file>[\w.]+):(?P<line>\d+)\)"),
    )
)
# Functions and libraries that only pass a failure on.
_PASSING = re.compile(
    r"^(?:abort|raise|gsignal|__GI_\w+|__pthread_kill\w*|pthread_kill|__assert\w*|\?\?|"
    r"<signal handler called>|__(?:mem|str)\w+|mem(?:cpy|move|set|cmp)\w*|strlen|_platform_mem\w+|"
    r"malloc\w*|free|_int_\w+|__libc_\w+|operator (?:new|delete)\w*|"
    r"std::(?:terminate|__throw\w+|rethrow).*|__cxxabiv1.*|__cxa_\w+|__gnu_cxx.*|_sigtramp|__restore_rt|"
    r"__kernel_rt_sigreturn|__asan.*|__interceptor.*|demangling_terminate.*|_objc_terminate.*|start_thread|clone3?)\b"
)
_SYSTEM = re.compile(
    r"(?:^|/)(?:libc(?:\.so.*|\+\+.*)?|libsystem_\w+\.dylib|libc\+\+(?:abi)?(?:_shared)?\.(?:so|dylib)|"
    r"libstdc\+\+\S*|ld-linux\S*|linux-vdso\S*|\[vdso\S*|libpthread\S*|libdyld\.dylib|"
    r"(?:ntdll|KERNELBASE|kernel32|ucrtbase)(?:\.dll)?)$"
)
_OWN_PYTHON = re.compile(
    r"site-packages|dist-packages|[/\\]lib[/\\]python\d|<frozen|[/\\]Lib[/\\](?!site)|^<(?!stdin|ipython-input)"
)
_OWN_JAVA = re.compile(
    r"^(?:androidx?|javax?|kotlinx?|dalvik|sun|libcore|org\.tensorflow|com\.(?:google|android)|io\.flutter)\."
)
_THREAD = re.compile(
    r"name: (?P<tombstone>[^>]+?)\s+>>>|[Tt]hread \d+ \"(?P<gdb>[^\"]+)\"|"
    r"Thread \d+ (?:name:\s+(?P<apple>.+)|Crashed:+\s+(?P<crashed>.+))|in tid \d+ \((?P<logcat>[^)]+)\)"
)
# CPython, Python/traceback.c: what faulthandler prints before each thread.
_THREAD_DUMPED = re.compile(r"^(?:Current thread|Thread|Stack) .*\(most recent call first\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFrame:
    """One function of a stack: native, Python's or Java's; what a form does not print is empty."""

    kind: str
    function: str = ""
    library: str = ""
    file: str = ""
    line: int | None = None
    at: int = 0

    @property
    def place(self) -> str:
        """File and line, as an editor takes them."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """What a log's stacks say: the frames in their order, and the thread that died."""

    frames: tuple[StackFrame, ...]
    thread: str = ""

    @property
    def native(self) -> tuple[StackFrame, ...]:
        """The native frames, the innermost first."""
        return tuple(frame for frame in self.frames if frame.kind == "native")

    @property
    def culprit(self) -> StackFrame | None:
        """The innermost native frame that does more than pass a failure on."""
        return next((frame for frame in self.native if not _passes_on(frame)), None)

    @property
    def own(self) -> StackFrame | None:
        """The user's own frame nearest to the failure: the last of Python's, the first of Java's."""
        python = [
            frame for frame in self.frames if frame.kind == "python" and not _OWN_PYTHON.search(frame.file)
        ]
        java = [
            frame for frame in self.frames if frame.kind == "java" and not _OWN_JAVA.search(frame.function)
        ]
        return python[-1] if python else java[0] if java else None


def _passes_on(frame: StackFrame) -> bool:
    known = _PASSING.search(frame.function) is not None
    return known or (not frame.function and not frame.library) or _SYSTEM.search(frame.library) is not None


def read_stack(lines: Iterable[LogLine]) -> Stack:
    """The frames in a part of a log; a library on a line of its own belongs to the frame before.

    Python's are in the order of a traceback, the innermost last, also those of faulthandler, which prints
    them the other way round and one thread after the other: the thread that died comes last.
    """
    found: list[StackFrame] = []
    dumped: list[StackFrame] | None = None  # of the thread that faulthandler is printing
    died: list[StackFrame] = []
    thread = ""
    for line in lines:
        if _THREAD_DUMPED.search(line.text):
            dumped = died if line.text.startswith("Current thread") else []
            continue
        if dumped is not None and (frame := _frame(line)) is not None and frame.kind == "python":
            (dumped if dumped is died else found).insert(0, frame)
            continue
        dumped = None
        named = _THREAD.search(line.text)
        if named and not thread:
            thread = next(filter(None, named.groups()), "").strip()
        frame = _frame(line)
        if frame is not None:
            found.append(frame)
        elif found and not found[-1].library and (more := re.match(r"\s+from (\S+)$", line.text)):
            last = found.pop()
            found.append(
                StackFrame(kind=last.kind, function=last.function, library=more.group(1), at=last.at)
            )
    return Stack(frames=(*found, *died), thread=thread)


def _frame(line: LogLine) -> StackFrame | None:
    for kind, form in _FORMS:
        found = form.match(line.text)
        if found:
            named = {name: value or "" for name, value in found.groupdict().items()}
            number = named.pop("line", "")
            named["library"] = re.split(
                r"[/\\]", named.get("library", "").partition("!")[2] or named.get("library", "")
            )[-1]
            return StackFrame(kind=kind, line=int(number) if number else None, at=line.number, **named)
    return None


@functools.cache
def _frame_messages() -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple(
        (row.pattern, index)
        for index, row in enumerate(known_messages())
        if row.frame and row.pattern is not None
    )


def known_frame(frames: Sequence[StackFrame], text: str) -> tuple[Match, StackFrame] | None:
    """The most telling row that a native frame fits, the innermost frame first; None if none."""
    best: tuple[Match, StackFrame] | None = None
    for frame in frames:
        words = f"{frame.function} {frame.library}"
        for pattern, index in _frame_messages():
            row = known_messages()[index]
            if best is not None and row.weight <= best[0].message.weight:
                break
            found = pattern.search(words)
            if found and row.allows(text):
                named = {
                    "function": frame.function or "?",
                    "library": frame.library or "?",
                    **found.groupdict(),
                }
                best = match_of(row, words, named), frame
                break
    return best
