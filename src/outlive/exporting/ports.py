"""The inputs and outputs of a model as a program sees them: place, shape, type, quantization, a name.

Names from a stranger's file, made safe for source code: identifiers, strings, comments.

A `Foreign` text cannot be printed as it is. A filter says what it becomes in code.

Fills a template, and refuses to print what no filter has made safe.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlive.model import Model, Signature, Subgraph, Tensor
from outlive.records import NOT_WRITTEN, in_document, written
from outlive.units import count_elements, format_shape

if TYPE_CHECKING:
    from jinja2 import Environment


_TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, **values: Any) -> str:
    """The text of a template, such as `tflm/main.cc.j2`."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        # Not PackageLoader: it says "not found" of a template that cannot be read.
        loader=FunctionLoader(lambda name: _TEMPLATES.joinpath(name).read_text(encoding="utf-8")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # this is source code and no page: see `foreign`
        finalize=_refuse_foreign,
    )
    made.filters |= {
        "c_string": c_string,
        "comment": comment,
        "java_string": java_string,
        "python_string": python_string,
        "number": number,
        "stored": stored,
        "shape": format_shape,
    }
    return made


def _refuse_foreign(value: Any) -> Any:
    if isinstance(value, Foreign):
        raise TypeError("a name from a file has to pass a filter before it is written")
    return value


def stored(zero_point: int) -> str:
    """The integer of a quantized value beside its zero point, as people write it: `(stored + 128)`."""
    if not zero_point:
        return "stored"
    return f"(stored {'-' if zero_point > 0 else '+'} {abs(zero_point)})"


def number(value: float) -> str:
    """A floating-point number as all our languages write it, to the last bit; it must be finite."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that code can contain")
    text = repr(float(value))
    return text if "." in text or "e" in text else f"{text}.0"


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


# One end of a subgraph: the tensor's index, and its name in a signature.
_End = tuple[int, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """An input or output. `open_shape` has -1 where the size is the caller's choice, or is known after a run.

    `label` is a name to show and to look up, unlike all others of the model; `variable` is that name in code,
    with a prefix that no other name there begins with: `in_` or `out_`. With a `scale` the integers stand for
    scale * (stored - zero_point).
    """

    position: int = field(metadata=NOT_WRITTEN)
    name: Foreign
    label: str = field(metadata=NOT_WRITTEN)
    variable: str
    index: int
    shape: tuple[int, ...] = field(metadata=NOT_WRITTEN)
    open_shape: tuple[int, ...] = field(metadata=written("shape"))
    dtype: str
    scale: float | None = None
    zero_point: int = 0
    per_channel: bool = field(default=False, metadata=NOT_WRITTEN)
    is_constant: bool = field(default=False, metadata=NOT_WRITTEN)

    @property
    @in_document("name")
    def name_text(self) -> str:
        """The name as the file has it."""
        return self.name.text

    @property
    @in_document("zero_point")
    def zero_point_of_scale(self) -> int | None:
        """The integer that stands for 0; None where integers are just numbers."""
        return None if self.scale is None else self.zero_point

    @property
    def is_open(self) -> bool:
        """True if a dimension is left open."""
        return -1 in self.open_shape

    @property
    def is_string(self) -> bool:
        """True if its elements are texts."""
        return self.dtype == "string"

    @property
    def count(self) -> int:
        """Elements at the file's own shape."""
        return count_elements(self.shape) or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInterface:
    """What a program has to know to call a model; `signature` is the one to call, None for the main graph.

    `inputs` are those to feed. A file may name a constant as an input: a program that writes to it
    writes into the mapped file, and dies; such ones are among `all_inputs` only.
    """

    file: Foreign
    path: Foreign
    inputs: tuple[Port, ...]
    all_inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    signature: Foreign | None
    signatures: tuple[Foreign, ...]


def layout_of(model: Model, signature: str | None = None) -> ModelInterface:
    """The layout of a model, or of one of its signatures; ValueError if it has no such signature.

    A model with several signatures, or one that is not the main graph's, is called by the first of them.
    """
    chosen = _choose(model, signature)
    graph = model.subgraphs[0 if chosen is None else chosen.subgraph_index]
    if chosen is None:
        # A single signature still has the better names.
        named = model.signatures[0] if len(model.signatures) == 1 else None
        inputs = _ends(graph.input_indices, named.inputs if named else ())
        outputs = _ends(graph.output_indices, named.outputs if named else ())
    else:
        inputs = [(index, name) for name, index in chosen.inputs]
        outputs = [(index, name) for name, index in chosen.outputs]
    path = model.path or "model.tflite"
    taken: set[str] = set()
    listed = tuple(_ports(graph, inputs, "input", taken))
    return ModelInterface(
        file=Foreign(os.path.basename(path)),
        path=Foreign(path),
        inputs=tuple(port for port in listed if not port.is_constant),
        all_inputs=listed,
        outputs=tuple(_ports(graph, outputs, "output", taken)),
        signature=None if chosen is None else Foreign(chosen.key),
        signatures=tuple(Foreign(item.key) for item in model.signatures),
    )


def _choose(model: Model, wanted: str | None) -> Signature | None:
    if wanted is not None:
        for item in model.signatures:
            if item.key == wanted:
                return item
        there = ", ".join(repr(item.key[:40]) for item in model.signatures[:8]) or "none"
        raise ValueError(f"unknown signature {wanted[:80]!r}; there is {there}")
    is_plain = len(model.signatures) == 1 and model.signatures[0].subgraph_index == 0
    return None if is_plain or not model.signatures else model.signatures[0]


def _ends(indices: Sequence[int], named: Sequence[tuple[str, int]]) -> list[_End]:
    names = {index: name for name, index in named}
    return [(index, names.get(index)) for index in indices]


def _ports(graph: Subgraph, ends: Iterable[_End], word: str, taken: set[str]) -> Iterable[Port]:
    for position, (index, name) in enumerate(ends):
        tensor = graph.tensors[index]
        called = tensor.name if name is None else name
        short = called.removeprefix("serving_default_").split(":")[0].rsplit("/", 1)[-1]
        label = identifier(short, f"{word}_{position}", taken)
        taken.add(label)
        yield _port(tensor, position, called, label, word)


def _port(tensor: Tensor, position: int, name: str, label: str, word: str) -> Port:
    found = tensor.quantization
    scales = found.scales if found is not None else ()
    zeros = found.zero_points if found is not None else ()
    # A scale that is no number, or on floats, is no scale to compute with.
    is_usable = len(scales) == 1 and math.isfinite(scales[0]) and scales[0] > 0
    is_integer = tensor.dtype.startswith(("int", "uint"))
    return Port(
        position=position,
        index=tensor.index,
        name=Foreign(name),
        label=label,
        variable=f"{word.removesuffix('put')}_{label}",
        shape=tensor.shape,
        open_shape=_open_shape(tensor),
        dtype=tensor.dtype,
        scale=scales[0] if is_usable and is_integer else None,
        zero_point=zeros[0] if is_usable and is_integer and zeros else 0,
        per_channel=len(scales) > 1,
        is_constant=tensor.is_constant,
    )


def _open_shape(tensor: Tensor) -> tuple[int, ...]:
    signature = tensor.shape_signature
    return signature if signature is not None and len(signature) == len(tensor.shape) else tensor.shape
