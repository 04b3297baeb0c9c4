"""What is wrong with a file, as facts: the reader notes flaws and goes on, the rules judge them later."""

from dataclasses import dataclass, replace
from typing import Literal

FlawKind = Literal[
    "past-end",  # something the file refers to lies beyond its last byte
    "malformed",  # bytes that are not laid out as a FlatBuffer
    "missing",  # a part every model must have is not there
    "overlap",  # the same bytes are claimed so often that the file would unfold into far more than its size
    "dangling-index",  # an index of a tensor, buffer, operator code or subgraph that does not exist
    "unknown-type",  # a tensor type the schema does not know
    "unknown-operator",  # an operator code the schema does not know
    "unknown-value",  # another enum or union value the schema does not know
    "bad-text",  # a name that is not UTF-8
    "bad-shape",  # a dimension no tensor can have
    "outside-buffer",  # data kept after the FlatBuffer that does not lie in the file
    "short-constant",  # a constant with fewer bytes than its shape and type need
    "bad-version",  # a schema version no runtime reads
    "bad-metadata",  # a metadata buffer or the attached zip cannot be read
]

# A hostile file can hold millions of flaws; this many are kept whole, the rest only counted.
KEPT_FLAWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One thing that is wrong: its kind, the byte, the table and field, and what it says in words."""

    kind: FlawKind
    detail: str
    table: str = ""
    field: str = ""
    byte: int | None = None
    path: tuple[str, ...] = ()
    reach: int | None = None

    @property
    def place(self) -> str:
        """Where it is, for a person: `subgraph 0, tensor 12, Tensor.shape at byte 4,160`."""
        name = f"{self.table}.{self.field}" if self.table and self.field else self.table or self.field
        at = f"{name} at byte {self.byte:,}" if name and self.byte is not None else name
        return ", ".join(part for part in (*self.path, at) if part)


class FlawLog:
    """Collects flaws while a file is read, bounded, and tells each where it happened."""

    def __init__(self) -> None:
        """Start empty."""
        self.flaws: list[Flaw] = []
        self.count = 0

    def add(self, flaw: Flaw) -> None:
        """Note a flaw; past the bound only the count grows."""
        self.count += 1
        # The first of each kind is always kept: mild flaws by the hundred must not hide a grave one.
        if len(self.flaws) < KEPT_FLAWS or all(flaw.kind != kept.kind for kept in self.flaws):
            self.flaws.append(flaw)

    def locate(self, since: int, step: str) -> None:
        """Put `step` in front of the path of every flaw noted after the first `since` ones."""
        for position in range(since, len(self.flaws)):
            flaw = self.flaws[position]
            self.flaws[position] = replace(flaw, path=(step, *flaw.path))
