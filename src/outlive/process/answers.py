"""What a worker may say: one schema for each answer, and nothing is believed that does not fit it.

    header (JSON, at most 1 MB) ── msgspec: types, ranges, allowed dtypes ──┐
    payload (bytes, at most what the caller computed) ── arrays, a tree ────┴──> values, or `MalformedAnswer`

A worker that has run a model file may have been taken over by it. Whatever it sends is decoded here or in
`details`, and only here: a violation ends the worker, and is a finding of its own (D514).
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import DecodeError, Meta, Struct, ValidationError
from msgspec.json import Decoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_INT32 = 1 << 31
MOST_DIMENSIONS = 64

Size = Annotated[int, Meta(ge=0, lt=1 << 48)]
Index = Annotated[int, Meta(ge=0, lt=_INT32)]
Shape = Annotated[tuple[Annotated[int, Meta(ge=-_INT32, lt=_INT32)], ...], Meta(max_length=MOST_DIMENSIONS)]
# Numbers, complex numbers and the opaque types of fewer than 100 bytes; strings go another way.
_NUMBERS = "[|<>=]?([biufc](1|2|4|8|16)|V[0-9]{1,2})"
Dtype = Annotated[str, Meta(pattern=f"^{_NUMBERS}$")]
Word = Annotated[str, Meta(max_length=256)]
Text = Annotated[str, Meta(max_length=1 << 20)]
Fact = str | int | float | bool | None
Facts = Annotated[dict[Word, Fact | list[Fact] | dict[Word, Fact]], Meta(max_length=64)]
STRINGS = "strings"


class MalformedAnswer(Exception):
    """An answer that breaks the protocol; the words say which rule."""


class MemoryReport(Struct, forbid_unknown_fields=True):
    """What the worker says of its own memory."""

    private_bytes: Size
    rss_bytes: Size


class _Answer(Struct, tag_field="answer", tag="ok", forbid_unknown_fields=True, kw_only=True):
    memory: MemoryReport | None = None


class Done(_Answer, tag="ok"):
    """It did what it was asked to; what it found is in the payload, if anything is."""


class Failure(_Answer, tag="error"):
    """The runtime complained."""

    error: Word
    text: Text
    where: Word = ""
    data_bytes: Size = 0


class Ready(_Answer, tag="ok"):
    """It has started."""

    ready: Index
    limits: Facts
    facts: Facts


class RuntimeMissingAnswer(_Answer, tag="absent"):
    """It has started, and its runtime is not there."""

    text: Text


class EndRow(Struct, forbid_unknown_fields=True, kw_only=True):
    """An input or output; the dtype of strings is empty."""

    index: Index
    dtype: Annotated[str, Meta(pattern=f"^({_NUMBERS})?$")]
    shape: Shape
    fixed: bool
    constant: bool
    residue: Index | None = None

    def __post_init__(self) -> None:
        """A tensor of fixed size has a type and no negative size."""
        if self.fixed and (not self.dtype or min(self.shape, default=0) < 0):
            raise ValueError("a fixed tensor without a size")


class Ends(_Answer, tag="ok"):
    """Inputs and outputs after an allocation."""

    inputs: list[EndRow]
    outputs: list[EndRow]
    moving: bool


class Shared(_Answer, tag="ok"):
    """How many bytes of tensors lie in the shared block itself."""

    overlaid: Size


class ArrayHead(Struct, forbid_unknown_fields=True, kw_only=True):
    """An array whose bytes are in the payload, or are kept by the worker to be fetched."""

    dtype: Annotated[str, Meta(pattern=f"^({_NUMBERS}|strings)$")]
    shape: Annotated[tuple[Index, ...], Meta(max_length=MOST_DIMENSIONS)]
    size: Size

    def __post_init__(self) -> None:
        """The size is what shape and type make it; a string has nine bytes beside its own."""
        count = math.prod(self.shape)
        if self.dtype == STRINGS:
            if self.size < 9 * count:
                raise ValueError(f"{count} strings in {self.size} bytes")
        elif self.size != count * _item_bytes(self.dtype):
            raise ValueError(f"{self.size} bytes for {self.dtype} {list(self.shape)}")


class Arrays(_Answer, tag="ok"):
    """Values of tensors: all of their bytes in the payload, or all of them `held` by the worker."""

    outputs: list[ArrayHead]
    held: bool = False

    def __post_init__(self) -> None:
        """No more than a process can hold."""
        if sum(head.size for head in self.outputs) >= 1 << 48:
            raise ValueError("more bytes than a process can hold")


class Report(_Answer, tag="ok"):
    """Whether accelerators took all of a compiled model."""

    fully_accelerated: bool | None


_BY_VERB: dict[str, type[_Answer]] = {
    "allocate": Ends,
    "ends": Ends,
    "share": Shared,
    "get": Arrays,
    "call": Arrays,
    "run": Arrays,
    "report": Report,
    "ready": Ready,
}


@functools.cache
def _decoder(verb: str) -> Decoder[Any]:
    wanted = _BY_VERB.get(verb, Done)
    other = RuntimeMissingAnswer if verb == "ready" else Failure
    return Decoder(wanted | other)


def decode(verb: str, header: bytes | bytearray) -> Any:
    """The answer to a question; `MalformedAnswer` if it is none."""
    try:
        return _decoder(verb).decode(header)
    except (ValidationError, DecodeError, ValueError, RecursionError) as error:
        raise MalformedAnswer(f"{verb}: {str(error)[:200] or type(error).__name__}") from None


def counted(answer: Arrays, count: int) -> Arrays:
    """The answer; `MalformedAnswer` if it has not so many values."""
    if len(answer.outputs) != count:
        raise MalformedAnswer(f"{len(answer.outputs)} values instead of {count}")
    return answer


def _item_bytes(dtype: str) -> int:
    import numpy as np  # who only guards functions does without it

    return np.dtype(dtype).itemsize


def size_of(row: EndRow) -> int:
    """Bytes of a tensor, from its shape and type: a worker's own count is not believed."""
    return math.prod(row.shape) * _item_bytes(row.dtype)


def split(answer: Arrays, count: int, payload: memoryview) -> list[NDArray[Any]]:
    """The `count` arrays that came with an answer, as copies: a small one does not keep the others."""
    if sum(head.size for head in counted(answer, count).outputs) != len(payload):
        raise MalformedAnswer(f"{len(payload)} bytes where arrays of another size were announced")
    arrays, at = [], 0
    for head in answer.outputs:
        arrays.append(as_array(head, payload[at : at + head.size]).copy())
        at += head.size
    return arrays


def as_array(head: ArrayHead, data: memoryview | NDArray[np.uint8]) -> NDArray[Any]:
    """An array over these bytes; of strings (lengths, kinds, and all of them in a row) a copy."""
    import numpy as np

    if head.dtype != STRINGS:
        found: NDArray[Any] = np.frombuffer(data, dtype=head.dtype).reshape(head.shape)
        return found
    count = math.prod(head.shape)
    lengths = np.frombuffer(data[: 8 * count], "<u8")
    kinds, text = bytes(data[8 * count : 9 * count]), data[9 * count :]
    ends = np.cumsum(lengths, dtype=np.uint64)
    # Each length first: the sum of absurd ones may come round to a small number.
    if count and (int(lengths.max()) > len(text) or int(ends[-1]) != len(text)):
        raise MalformedAnswer("strings that are longer than what came")
    flat: NDArray[Any] = np.empty(count, dtype=object)
    for place, (end, length) in enumerate(zip(ends.tolist(), lengths.tolist(), strict=True)):
        flat[place] = _string(kinds[place], bytes(text[end - length : end]))
    return flat.reshape(head.shape)


def _string(kind: int, data: bytes) -> Any:
    try:
        return data.decode("utf-8") if kind == ord("s") else data if kind == ord("b") else None
    except UnicodeDecodeError:
        raise MalformedAnswer("a string that is not UTF-8") from None
