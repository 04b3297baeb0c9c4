"""Names from a stranger's file, made safe for source code: identifiers, strings, comments.

A `Foreign` text cannot be printed as it is. Whoever puts one into code has to say what it becomes there.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass

_LONGEST_NAME = 40
_LONGEST_COMMENT = 80
# No word of these is a name in every language we write.
_TAKEN = frozenset(
    """abstract alignas alignof and and_eq array asm assert auto bitand bitor bool boolean break byte case
    catch char class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit
    continue decltype default define delete do double dynamic_cast else enum explicit export extends extern
    false final finally float for friend goto if implements import inline inputs instanceof int interface
    interpreter long main model mutable namespace native new noexcept not not_eq np null nullptr operator or
    or_eq outputs package private protected public quantize register reinterpret_cast requires restrict return
    run runner short signed sizeof static static_assert static_cast std strictfp string struct super switch
    synchronized template this thread_local throw throws transient true try typedef typeid typename typeof
    union unsigned using value values virtual void volatile wchar_t while with xor xor_eq yield tflite arena
    buffer check count done fail found load name ok options raw real results sys status stored tensor words
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A text that somebody else wrote. It has no plain form."""

    text: str

    def __str__(self) -> str:
        """Refused: a filter has to make it safe first."""
        raise TypeError("a name from a file has to pass a filter before it is written")


def identifier(text: str, otherwise: str, taken: Iterable[str] = ()) -> str:
    """A name that every language takes, near to the text; with a number behind it if it is taken."""
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:_LONGEST_NAME].strip("_")
    name = words if words and not words[0].isdigit() else f"{otherwise}_{words}" if words else otherwise
    used = {*taken, *_TAKEN, *(word.lower() for word in keyword.kwlist), *keyword.softkwlist}
    number = 1
    found = name
    while found in used:
        number += 1
        found = f"{name}_{number}"
    return found


def c_string(text: Foreign | str) -> str:
    """A string literal of C and C++: UTF-8, everything unusual in octal."""
    raw = _plain(text).encode("utf-8", "surrogateescape" if _survives(_plain(text)) else "backslashreplace")
    # Question marks too: two of them begin a trigraph.
    return (
        '"' + "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in raw) + '"'
    )


def java_string(text: Foreign | str) -> str:
    """A string literal of Java; what is not ASCII as a Unicode escape, control characters in octal.

    Java reads Unicode escapes before anything else: quotes and line ends must never be written that way.
    """
    return '"' + "".join(map(_java_char, _plain(text))) + '"'


def python_string(text: Foreign | str) -> str:
    """A string literal of Python, in ASCII."""
    return ascii(_plain(text))


def comment(text: Foreign | str) -> str:
    """One line that ends no comment and no text in quotes, starts nothing, and reads about the same.

    Backslashes go: they join lines in C, and begin Unicode escapes in Java, of line ends in comments too.
    """
    said = _plain(text)
    said = said if len(said) <= _LONGEST_COMMENT else said[: _LONGEST_COMMENT - 3] + "..."
    said = "".join(char if " " <= char <= "~" and char not in "\\?" else "." for char in said)
    said = said.replace('"', "'").replace("`", "'").replace("<", "(").replace(">", ")")
    return said.replace("*/", "*.").replace("/*", ".*")


def _plain(text: Foreign | str) -> str:
    return text.text if isinstance(text, Foreign) else text


def _survives(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _java_char(char: str) -> str:
    code = ord(char)
    if char in '"\\':
        return f"\\{char}"
    if 32 <= code < 127:
        return char
    if code < 128:
        return f"\\{code:03o}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
