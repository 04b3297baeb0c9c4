"""The node that an interpreter is running, read from its memory: the op's code, its index, its custom name.

    kernel frame        entry of the function ─────────────┐ must be the same
    interpreter frame   pointers ──> TfLiteRegistration ── its init, free, prepare or invoke
                        pointers ──> Subgraph ── vector of nodes ──> index of the node

The interpreter calls a kernel through a table of four functions and keeps a pointer to the node at hand, so
the table that holds the very function on the stack tells which op it is: also where one kernel serves
several ops, where a delegate's kernel runs, and in a library without symbols. Everything is checked against
everything else; where two answers are possible there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from . import backtrace, tracee

# tflite/core/c/common.h, struct TfLiteRegistration: four functions, profiling_string, builtin_code,
# custom_name, version, and what later releases added.
PHASES = ("Init", "Free", "Prepare", "Eval")
_FUNCTIONS = 5
_CODE, _CUSTOM_NAME, _VERSION = 5, 6, 7
_MAX_CODE = 1023
_MAX_VERSION = 255

# tflite/core/subgraph.h: nodes_and_registration_ is a vector of pairs of TfLiteNode and TfLiteRegistration.
# Sizes of the two, newest first: a node lost or gained a field, a registration grew by async_kernel (2.12)
# and inplace_operator (2.15).
_SIZES = ((80, 88), (80, 80), (80, 72), (72, 72))
_NODE_SIZES = tuple(sorted({node for node, _ in _SIZES}, reverse=True))
_SUBGRAPH_WORDS = 192
_MAX_VECTOR_BYTES = 1 << 20  # 6,000 nodes

_MAX_FRAME_WORDS = 512
_LOWEST_ADDRESS = 4096
_TWICE = 2

# Registers that a function must give back as it found them, by DWARF number: System V ABI for AMD64, 3.2.1;
# Procedure Call Standard for the Arm 64-bit Architecture, 6.1.1.
_KEPT_X86 = (3, 6, 12, 13, 14, 15)
_KEPT_ARM = tuple(range(19, 30))


class OpNode(NamedTuple):
    """What the interpreter's memory says about the node at hand."""

    code: int
    custom_name: str
    phase: str
    position: int | None


def running(
    process: tracee.Tracee, kernel: backtrace.NativeFrame, caller: backtrace.NativeFrame
) -> OpNode | None:
    """The node whose function `kernel` is, if `caller` is the interpreter; None if it cannot be told."""
    if kernel.entry is None:
        return None
    for frame in (caller, kernel):
        tables = _tables(process, _pointers(process, frame), kernel.entry)
        found = {_named(process, table, kernel.entry) for table in tables}
        if len(found) > 1:
            return None
        if found:
            place = _place(process, caller, tables, kernel.entry) if frame is caller else None
            # Only the first node was found, and other ops share its function: it may be theirs as well.
            if place is None and _is_shared(process, caller, kernel.entry):
                return None
            return found.pop()._replace(position=place)
    return None


def at_hand(process: tracee.Tracee, caller: backtrace.NativeFrame) -> OpNode | None:
    """The one node that a function of the interpreter holds; None if it holds none or several."""
    tables = _tables(process, _pointers(process, caller), None)
    place = _place(process, caller, tables, None)
    for vector in _vectors(process, _pointers(process, caller)) if place is not None else ():
        words = process.words(vector.first + (place or 0) * vector.step, _VERSION + 1)
        return _node(process, words, "")._replace(position=place)
    return None


def visited(process: tracee.Tracee, frames: Iterable[backtrace.NativeFrame]) -> OpNode | None:
    """The node that a delegate is looking at: these frames hold pointers to it and to its registration.

    The interpreter hands out both, one behind the other; two such pairs, and we know nothing.
    """
    pointers = [pointer for frame in frames for pointer in _pointers(process, frame)]
    tables = {
        pointer + size
        for pointer in pointers
        for size in _NODE_SIZES
        if pointer + size in pointers and _is_table(process, process.words(pointer + size, _VERSION + 1))
    }
    if len(tables) != 1:
        return None
    table = next(iter(tables))
    places = {vector.place(table) for vector in _vectors(process, pointers)} - {None}
    words = process.words(table, _VERSION + 1)
    return _node(process, words, "")._replace(position=places.pop() if len(places) == 1 else None)


def codes(process: tracee.Tracee, frame: backtrace.NativeFrame) -> tuple[int, ...]:
    """The codes of all nodes of the subgraph that `frame`, a function of the interpreter, works on."""
    for vector in _vectors(process, _pointers(process, frame)):
        return vector.codes
    return ()


def _words(process: tracee.Tracee, frame: backtrace.NativeFrame) -> tuple[list[int], list[int]]:
    """What a function holds in the registers that survive calls, and on the stack."""
    kept = _KEPT_ARM if backtrace.ARM_LINK_REGISTER in frame.registers else _KEPT_X86
    count = max(0, min(_MAX_FRAME_WORDS, (frame.frame_end - frame.stack) // tracee.WORD_BYTES))
    return [frame.registers.get(number, 0) for number in kept], process.words(frame.stack, count)


def _pointers(process: tracee.Tracee, frame: backtrace.NativeFrame) -> list[int]:
    """What of that may point somewhere."""
    registers, stack = _words(process, frame)
    pointers = {word for word in registers + stack if word >= _LOWEST_ADDRESS and not word % 4}
    return sorted(word for word in pointers if process.mapping(word) is not None)


def _tables(process: tracee.Tracee, pointers: Iterable[int], entry: int | None) -> set[int]:
    """The registrations among or just behind the pointers that hold the function (None: any)."""
    return {
        pointer + skip
        for pointer in pointers
        for skip in (0, *_NODE_SIZES)
        if _holds(process, process.words(pointer + skip, _VERSION + 1), entry)
    }


def _holds(process: tracee.Tracee, words: list[int], entry: int | None) -> bool:
    return (entry is None or entry in words[: len(PHASES)]) and _is_table(process, words)


def _place(
    process: tracee.Tracee, frame: backtrace.NativeFrame, tables: set[int], entry: int | None
) -> int | None:
    """The index of the node at hand, out of the registrations that a frame leads to; None if in doubt.

    The frame also holds where the vector of nodes begins, which is where the first node is: that one counts
    only if no other is found, and if it cannot be there for the vector's sake alone.
    """
    vectors = list(_vectors(process, _pointers(process, frame)))
    firsts = {vector.first for vector in vectors}
    others = tables - firsts
    if len(others) == 1:
        places = {vector.place(table) for vector in vectors for table in others} - {None}
        return places.pop() if len(places) == 1 else None
    if others or len(firsts & tables) != 1:
        return None
    vector = next(vector for vector in vectors if vector.first in tables)
    alone = len(_rivals(process, vector, entry)) == 1
    return 0 if alone or _is_held_for_itself(process, frame, vector) else None


def _is_held_for_itself(process: tracee.Tracee, frame: backtrace.NativeFrame, vector: _NodeVector) -> bool:
    """Whether a frame holds the first node twice, as start of the vector and as node, and no other's offset.

    True of the builds for x86-64 that we know (LiteRT, tflite_runtime 2.14); others are not trusted.
    """
    if backtrace.ARM_LINK_REGISTER in frame.registers:
        return False
    registers, stack = _words(process, frame)
    starts = {vector.first - size for size in (0, *_NODE_SIZES)}
    offsets = range(vector.step, vector.step * len(vector.codes), vector.step)
    in_registers = [word for word in registers if word in starts]
    on_stack = [word for word in stack if word in starts]
    clear = not any(word in offsets for word in registers + stack)
    return clear and bool(in_registers) and len(in_registers) + len(on_stack) >= _TWICE


def _rivals(process: tracee.Tracee, vector: _NodeVector, entry: int | None) -> list[int]:
    """The codes of the nodes in a vector that hold the function (None: of all)."""
    return [
        code
        for number, code in enumerate(vector.codes)
        if _holds(process, process.words(vector.first + number * vector.step, _VERSION + 1), entry)
    ]


def _is_shared(process: tracee.Tracee, frame: backtrace.NativeFrame, entry: int) -> bool:
    """Whether nodes of different ops hold the function."""
    vectors = _vectors(process, _pointers(process, frame))
    return any(len(set(_rivals(process, vector, entry))) > 1 for vector in vectors)


def _named(process: tracee.Tracee, table: int, entry: int) -> OpNode:
    words = process.words(table, _VERSION + 1)
    return _node(process, words, PHASES[words.index(entry)])


def _is_table(process: tracee.Tracee, words: list[int]) -> bool:
    """Whether these words can be a registration: functions or nothing, a small code, a small version."""
    return (
        len(words) > _VERSION
        and words[_CODE] & 0xFFFFFFFF <= _MAX_CODE
        and 1 <= words[_VERSION] & 0xFFFFFFFF <= _MAX_VERSION
        and any(words[: len(PHASES)])
        and all(not word or process.is_code(word) for word in words[:_FUNCTIONS])
        and (not words[_CUSTOM_NAME] or process.mapping(words[_CUSTOM_NAME]) is not None)
    )


def _node(process: tracee.Tracee, words: list[int], phase: str) -> OpNode:
    name = process.text(words[_CUSTOM_NAME]) if words[_CUSTOM_NAME] else ""
    return OpNode(words[_CODE] & 0xFFFFFFFF, name, phase, None)


class _NodeVector(NamedTuple):
    """The registrations in a vector of nodes: where the first lies, how far apart they are, their codes."""

    first: int
    step: int
    codes: tuple[int, ...]

    def place(self, table: int) -> int | None:
        """The index of the node whose registration lies there."""
        number, rest = divmod(table - self.first, self.step)
        return number if not rest and 0 <= number < len(self.codes) else None


def _vectors(process: tracee.Tracee, pointers: Iterable[int]) -> Iterator[_NodeVector]:
    """The vectors of nodes in the objects that the pointers lead to."""
    for pointer in pointers:
        words = process.words(pointer, _SUBGRAPH_WORDS)
        for begin, end, limit in zip(words, words[1:], words[2:]):
            if _LOWEST_ADDRESS < begin < end <= limit and end - begin <= _MAX_VECTOR_BYTES:
                yield from _read_vector(process, begin, end, limit)


def _read_vector(process: tracee.Tracee, begin: int, end: int, limit: int) -> Iterator[_NodeVector]:
    """The vector between these addresses, if every pair in it holds a registration."""
    for node, registration in _SIZES:
        step = node + registration
        if (end - begin) % step or (limit - begin) % step:
            continue
        if not _is_table(process, process.words(begin + node, _VERSION + 1)):
            continue  # most of what looks like a vector is one of something else
        tables = [process.words(at + node, _VERSION + 1) for at in range(begin, end, step)]
        # The last may still be empty: the interpreter adds a delegate's node before it fills it in.
        full = tables if _is_table(process, tables[-1]) else tables[:-1]
        if full and all(_is_table(process, words) for words in full):
            yield _NodeVector(begin + node, step, tuple(words[_CODE] & 0xFFFFFFFF for words in full))
