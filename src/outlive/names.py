"""Makes text from a stranger's file safe to show: no control characters, no surprises, not too long."""

import re

# How the first line of a drawn finding begins.
_HEADLINE = re.compile(r"\n(?=(?:error|warning|note)\[)")
# A formula begins with one of these, in their wide form too.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# The longest path of Linux, quoted, with room for some options.
_LONGEST_COMMAND = 8_192


def safe(text: str, limit: int = 0) -> str:
    """The text with unsafe characters as escapes, cut in the middle to `limit` characters if given."""
    if len(text) > 4 * limit > 0:
        # A name of a megabyte need not be escaped whole to be shown in a few characters.
        text = text[: 2 * limit] + text[-2 * limit :]
    if not text.isprintable():
        text = "".join(_escape(char) for char in text)
    return shorten(text, limit) if limit else text


def safe_lines(text: str) -> str:
    """The same for text of several lines, which stay lines."""
    return text if text.isprintable() else "\n".join(map(safe, text.split("\n")))


def foreign_lines(text: str) -> str:
    """A runtime's words, in which names from a file may be: none of their lines passes for a finding's."""
    return _HEADLINE.sub(r"\\n", safe_lines(text))


def whole(command: str) -> str:
    """A command with unsafe characters as escapes, whole or not at all: cut, its quotes might not close."""
    return safe(command) if len(command) <= _LONGEST_COMMAND else "(a command too long to be shown)"


def sentence(text: str) -> str:
    """The text as a sentence: with a capital, unless it begins with a name, and a full stop."""
    first = text.split(" ", 1)[0].rstrip(",:;.")
    start = text[:1].upper() if first.isalpha() and first.islower() and first != "outlive" else text[:1]
    return start + text[1:] + ("" if not text or text[-1] in ".!?:" else ".")


def plain_cell(text: str) -> str:
    """Text for a cell of a spreadsheet: one that it would take for a formula gets an apostrophe in front."""
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def shorten(text: str, limit: int) -> str:
    """The text cut in the middle: the end of a tensor's name tells most, its start next."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) * 2 // 3
    return text[: limit - 1 - tail] + "…" + text[len(text) - tail :]


def _escape(char: str) -> str:
    # Not printable: control and format characters (bidirectional overrides, zero-width), surrogates, private
    # and unassigned ones, separators but the space: all can hide or change what a terminal or a page shows.
    if char.isprintable():
        return char
    code = ord(char)
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    return known or (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
