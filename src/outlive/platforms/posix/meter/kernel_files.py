"""Small files of the kernel as numbers and tables; a missing or broken one reads as nothing."""

from pathlib import Path

# What we read is a few kilobytes long; whatever is longer is not the file we think it is.
_LONGEST = 1 << 20


def read_text(path: Path) -> str:
    """The file's text; empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


def read_number(path: Path) -> int | None:
    """The number a file holds; None for `max`, for a negative number, and where there is none to be had."""
    return parse_number(read_text(path))


def read_table(path: Path) -> dict[str, int]:
    """A file of lines `name value`, as memory.stat, vmstat and meminfo (in kB) are; others are skipped."""
    table = {}
    for line in read_text(path).splitlines():
        words = line.split()
        number = parse_number(words[1]) if len(words) >= 2 else None
        if number is not None:
            table[words[0].rstrip(":")] = number
    return table


def parse_number(text: str) -> int | None:
    """The number in a text of digits; None for anything else."""
    digits = text.strip()
    # The length is bounded because int() refuses, by an error, to read thousands of digits.
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None
