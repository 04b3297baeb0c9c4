"""Names from a stranger's file, made safe for source code: identifiers, strings, comments.

A `Foreign` text cannot be printed as it is. A filter says what it becomes in code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LONGEST_NAME = 40
_LONGEST_COMMENT = 80
# Words that a namespace cannot have: those of C++, and what its headers put beside it.
_TAKEN = frozenset(
    """acos alignas alignof and and_eq asin asm atan auto bitand bitor bool break case catch ceil char class
    compl concept const const_cast consteval constexpr constinit continue cos cosh decltype default delete div
    do double dynamic_cast else enum exit exp explicit export extern false float floor fmod for free friend
    frexp goto if inline int index labs ldexp log long main malloc modf mutable namespace new noexcept not
    not_eq nullptr operator or or_eq outlive pow printf private protected public remove rename register
    reinterpret_cast requires return rint round short signal signed sin sinh sizeof sqrt static static_assert
    static_cast std struct switch tan tanh template tflite this thread_local throw time true trunc try typedef
    typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq y0 y1 yn
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
    """Letters, digits and underscores near to the text, none of `taken`; a number behind it tells it apart.

    It may be a word of a language: code puts a prefix in front of it that none of its other names has.
    """
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:_LONGEST_NAME].strip("_")
    name = words if words and not words[0].isdigit() else f"{otherwise}_{words}" if words else otherwise
    used = set(taken)
    number = 1
    found = name
    while found in used:
        number += 1
        found = f"{name}_{number}"
    return found


def is_namespace(name: str) -> bool:
    """True if a namespace of C++ may be called that."""
    return identifier(name, "model") == name and name not in _TAKEN


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
