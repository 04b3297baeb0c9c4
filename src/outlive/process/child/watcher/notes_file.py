"""The notes that a kernel leaves for its recorder: one mapped file, a few words and a text.

The kernel writes, the watcher reads, neither waits. The file outlives both, whatever kills them.
"""

from __future__ import annotations

import os
import struct

# Not imported at run time: it would take a megabyte, in a process that is to be small.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIZE = 1 << 16
# Words of eight bytes at the start of the file.
BUSY, ENDING, EXIT_CODE, BEGAN_NS, LENGTH, FAULT_FD, NOTED_BY, STDERR_FD, DUMP_SIGNAL = range(9)
# What ENDING says: nothing yet; asked to stop; left as programs do; left by os._exit; its server is gone.
LIVES, ASKED, LEFT, EXITED, ORPHANED = range(5)
_TEXT_AT = 256
MOST_TEXT = SIZE - _TEXT_AT

FAULTS_FILE, NOTES_FILE, ABOUT_FILE, TIMELINE_FILE = "faults", "notes", "about.json", "timeline"
EVIDENCE_FILE = "evidence.json"
# In the text: the variable that grew most. It is for the living, and not part of a record.
GROWING = "growing"


def get_word(notes: Any, word: int) -> int:
    """A word of the notes."""
    value: int = struct.unpack_from("<q", notes, 8 * word)[0]
    return value


def set_word(notes: Any, word: int, value: int) -> None:
    """Write a word of the notes."""
    struct.pack_into("<q", notes, 8 * word, value)


def put_text(notes: Any, text: bytes) -> None:
    """Write the text; a reader that comes in between finds none."""
    text = text[:MOST_TEXT]
    set_word(notes, LENGTH, 0)
    notes[_TEXT_AT : _TEXT_AT + len(text)] = text
    set_word(notes, LENGTH, len(text))


def get_text(notes: Any) -> dict[str, Any]:
    """What the text says; empty if it is being written, or damaged by whatever ended the kernel."""
    import json

    length = get_word(notes, LENGTH)
    if not 0 < length <= MOST_TEXT:
        return {}
    try:
        said = json.loads(bytes(notes[_TEXT_AT : _TEXT_AT + length]))
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def get_cell(notes: Any) -> dict[str, Any]:
    """What the text says of the cell."""
    return {name: value for name, value in get_text(notes).items() if name != GROWING}


def write_private(path: str, content: dict[str, Any]) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    import json

    write(path, json.dumps(content))


def write(path: str, text: str) -> None:
    """The same for a text."""
    draft = f"{path}.{os.getpid()}.draft"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    os.replace(draft, path)
