"""What every result can do where a person looks at it: a line in a REPL, a card, rows for pandas.

    Summary          repr(): Plan(model.tflite: 14.2 MiB, fits)
    └── Result       a card in a notebook, to_pandas()
        └── Listed   len(), [0], ["name"], `in`, a loop over its first table

A result does not know how it is drawn: `verbs/__init__.py`, which does, sets `draw_card`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, TypeVar, overload

from outlive.names import safe, shorten

LONGEST_REPR = 100
_LONGEST_NAME = 44
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
Item = TypeVar("Item")

draw_card: Callable[[Any], str] | None = None


def file_name(path: str | None) -> str:
    """The last part of a path, short enough for a line; for bytes, that there is none."""
    return shorten(path.replace("\\", "/").rstrip("/").rpartition("/")[2], _LONGEST_NAME) if path else "bytes"


class Summary:
    """Something that Python shows in a line of at most 100 characters: what it is about, what came of it."""

    __slots__ = ()

    def _summary(self) -> tuple[str, str]:
        """What it is about, and what came of it: each is a stranger's text, and escaped by the caller."""
        raise NotImplementedError  # abstract

    def __repr__(self) -> str:
        """In a line; whatever is wrong inside of it, showing it does not raise."""
        kind = type(self).__name__
        try:
            about, said = (safe(words, 2 * LONGEST_REPR) for words in self._summary())
        except Exception:  # a debugger, a log or a failing test shows what is half made
            return f"{kind}(...)"
        text = f"{about}: {said}" if about and said else about or said
        room = LONGEST_REPR - len(kind) - 2
        return f"{kind}({text if len(text) <= room else text[: room - 1] + '…'})"


class Result(Summary):
    """What a verb gives: `tables` names those of its attributes that are rows, with the class of a row."""

    __slots__ = ()
    tables: ClassVar[tuple[tuple[str, Any], ...]] = ()

    def _repr_html_(self) -> str | None:
        """The card that a notebook shows."""
        return None if draw_card is None else draw_card(self)

    def to_pandas(self, table: str = "") -> Any:
        """One of its tables as a `pandas.DataFrame`: the first of `tables` unless another is named.

        Columns are the fields of the JSON document; those of a part are named with a dot (`metrics.sqnr_db`).
        Raises ValueError for a name that is none of `tables`, ImportError without pandas.
        """
        for name, kind in self.tables:
            if table in ("", name):
                return _frame(self._rows(name), kind)
        known = ", ".join(name for name, _ in self.tables) or "none"
        raise ValueError(f"no table {table!r} in a {type(self).__name__}; its tables: {known}")

    def _rows(self, table: str) -> list[Any]:
        rows = getattr(self, table)
        return list(rows() if callable(rows) else rows)


class Listed(Result, Generic[Item]):
    """A result that is a list of rows above all: those of its first table, which a name finds too."""

    __slots__ = ()
    # The attributes of a row that hold its name.
    row_names: ClassVar[tuple[str, ...]] = ("name",)

    def __iter__(self) -> Iterator[Item]:
        """Each row, in order."""
        return iter(self._rows(self.tables[0][0]))

    def __len__(self) -> int:
        """How many rows there are."""
        return sum(1 for _ in self)

    @overload
    def __getitem__(self, place: int | str) -> Item: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...

    def __getitem__(self, place: int | str | slice) -> Item | tuple[Item, ...]:
        """A row by its place or by its name, or several; IndexError or KeyError if there is none."""
        if not isinstance(place, str):
            return tuple(self)[place]
        for row in self:
            if place in self._names(row):
                return row
        raise KeyError(place)

    def __contains__(self, item: object) -> bool:
        """Whether there is such a row, or one of that name."""
        return any(item in self._names(row) if isinstance(item, str) else item == row for row in self)

    def _names(self, row: Item) -> list[str]:
        found = [getattr(row, name) for name in self.row_names]
        return [name for value in found for name in ([value] if isinstance(value, str) else value)]


def _frame(rows: list[Any], kind: Any) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from error
    from outlive.records import field_names, part_of

    if not rows:
        return pandas.DataFrame(columns=field_names(kind))
    frame = pandas.json_normalize(part_of(rows))
    # A part that is null in some rows has the columns of its fields, and one of its own that says nothing.
    parts = {name.rpartition(".")[0] for name in frame.columns}
    frame = frame.drop(columns=[name for name in frame.columns if name in parts and frame[name].isna().all()])
    for name in frame.columns:
        frame[name] = _numbers(frame[name])
    return frame


def _numbers(column: Any) -> Any:
    """A column in which only what is not finite is a string, as JSON has it, with numbers for these."""
    values = list(column)
    if not any(value in _NOT_FINITE for value in values if isinstance(value, str)):
        return column
    words = [value for value in values if isinstance(value, str) and value not in _NOT_FINITE]
    if words or any(isinstance(value, (list, dict)) for value in values):
        return column
    return [_NOT_FINITE.get(value, value) if isinstance(value, str) else value for value in values]
