"""Code that feeds and reads one model correctly, in four languages.

Model ──> ports.layout_of ──> templates/snippet/LANGUAGE.j2 ──> Snippet
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from outlive.atomic_files import write_whole
from outlive.exporting.ports import ModelInterface, Port, identifier, layout_of, render
from outlive.model import Model
from outlive.records import NOT_WRITTEN, ModelPath, in_document, written


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementType:
    """A type of elements, as each language has it; empty where it has none."""

    numpy: str
    c: str
    tflite: str
    java: str = ""


ELEMENT_TYPES: Mapping[str, ElementType] = {
    "float32": ElementType(numpy="float32", c="float", tflite="kTfLiteFloat32", java="float"),
    "float64": ElementType(numpy="float64", c="double", tflite="kTfLiteFloat64"),
    "float16": ElementType(numpy="float16", c="uint16_t", tflite="kTfLiteFloat16"),
    "int8": ElementType(numpy="int8", c="int8_t", tflite="kTfLiteInt8", java="byte"),
    "int16": ElementType(numpy="int16", c="int16_t", tflite="kTfLiteInt16", java="short"),
    "int32": ElementType(numpy="int32", c="int32_t", tflite="kTfLiteInt32", java="int"),
    "int64": ElementType(numpy="int64", c="int64_t", tflite="kTfLiteInt64", java="long"),
    "uint8": ElementType(numpy="uint8", c="uint8_t", tflite="kTfLiteUInt8", java="byte"),
    "uint16": ElementType(numpy="uint16", c="uint16_t", tflite="kTfLiteUInt16"),
    "uint32": ElementType(numpy="uint32", c="uint32_t", tflite="kTfLiteUInt32"),
    "uint64": ElementType(numpy="uint64", c="uint64_t", tflite="kTfLiteUInt64"),
    "bool": ElementType(numpy="bool_", c="bool", tflite="kTfLiteBool", java="boolean"),
    "complex64": ElementType(numpy="complex64", c="TfLiteComplex64", tflite="kTfLiteComplex64"),
    "complex128": ElementType(numpy="complex128", c="TfLiteComplex128", tflite="kTfLiteComplex128"),
    "string": ElementType(numpy="object_", c="char", tflite="kTfLiteString", java="String"),
}
# The name that people use, the template, and how such a file ends.
LANGUAGES: Mapping[str, tuple[str, str]] = {
    "python": ("snippet/python.j2", ".py"),
    "c": ("snippet/c.j2", ".c"),
    "c++": ("snippet/cpp.j2", ".cc"),
    "java": ("snippet/java.j2", ".java"),
}
# Which package's interpreter the Python code takes.
RUNTIMES: Mapping[str, str] = {
    "litert": "from ai_edge_litert.interpreter import Interpreter",
    "outlive": "from outlive import Interpreter",
    "tensorflow": "from tensorflow.lite import Interpreter",
    "tflite_runtime": "from tflite_runtime.interpreter import Interpreter",
}
# Integer types that quantized values are stored in, with their limits.
_LIMITS = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "int32": (-(2**31), 2**31 - 1),
}
_MOST_TEXT_DIMENSIONS = 2
_MOST_PORTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """The code, its language, and the name a file of it should have."""

    kind: ClassVar[str] = "snippet"

    language: str
    file_name: str
    text: str = field(repr=False, metadata=written("code"))
    layout: ModelInterface = field(repr=False, metadata=NOT_WRITTEN)

    def __str__(self) -> str:
        """The code."""
        return self.text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the code to a file, whole or not at all."""
        write_whole(path, self.text)

    @property
    @in_document()
    def model(self) -> ModelPath:
        """The model that it calls."""
        return ModelPath(path=self.layout.path.text)

    @property
    @in_document()
    def signature(self) -> str | None:
        """The signature that it calls; None for the main graph."""
        return None if self.layout.signature is None else self.layout.signature.text

    @property
    @in_document()
    def inputs(self) -> tuple[Port, ...]:
        """What it feeds."""
        return self.layout.inputs

    @property
    @in_document()
    def outputs(self) -> tuple[Port, ...]:
        """What it reads."""
        return self.layout.outputs


def make_snippet(
    model: Model, language: str, *, signature: str | None = None, runtime: str = "litert"
) -> Snippet:
    """The code for a model; ValueError for what the language or the model does not have."""
    if language not in LANGUAGES:
        raise ValueError(f"{language[:40]!r} is not a supported language; choose from {', '.join(LANGUAGES)}")
    if runtime not in RUNTIMES:
        raise ValueError(f"{runtime[:40]!r} is not a supported runtime; choose from {', '.join(RUNTIMES)}")
    layout = layout_of(model, signature)
    for port in (*layout.inputs, *layout.outputs):
        _check(port, language)
    _check_layout(layout, language)
    template, ending = LANGUAGES[language]
    stem = identifier(layout.file.text.removesuffix(".tflite"), "model")
    class_name = "".join(word.capitalize() for word in stem.split("_")) + "Model"
    text = render(
        template,
        layout=layout,
        kinds=ELEMENT_TYPES,
        limits=_LIMITS,
        importing=RUNTIMES[runtime],
        class_name=class_name,
        texts=any(port.is_string for port in (*layout.inputs, *layout.outputs)),
        input_texts=any(port.is_string for port in layout.inputs),
        output_texts=any(port.is_string for port in layout.outputs),
        plain_inputs=any(not port.is_string for port in layout.inputs),
        plain_outputs=any(not port.is_string for port in layout.outputs),
        any_open=any(port.is_open for port in (*layout.inputs, *layout.outputs)),
        opened=any(port.is_open for port in layout.inputs),
        quantized={port.dtype for port in layout.inputs if port.scale is not None},
    )
    name = f"{class_name}{ending}" if language == "java" else f"run_{stem}{ending}"
    return Snippet(language=language, file_name=name, text=text, layout=layout)


def _check_layout(layout: ModelInterface, language: str) -> None:
    if len(layout.inputs) + len(layout.outputs) > _MOST_PORTS:
        raise ValueError(f"the model has more than {_MOST_PORTS} inputs and outputs: too many for a snippet")
    if language == "java" and (not layout.inputs or layout.inputs != layout.all_inputs):
        what = "with a constant as an input" if layout.inputs else "without inputs"
        raise ValueError(f"LiteRT's Java interface does not run a model {what}; use another language")


def _check(port: Port, language: str) -> None:
    what = f"tensor #{port.index} {port.name.text[:80]!r}"
    kind = ELEMENT_TYPES.get(port.dtype)
    if kind is None:
        raise ValueError(f"{what} is {port.dtype}: no program can set or read that through an interpreter")
    if language == "java" and not kind.java:
        raise ValueError(f"{what} is {port.dtype}: LiteRT's Java interface has no such type")
    if language == "java" and port.is_string and len(port.shape) > _MOST_TEXT_DIMENSIONS:
        raise ValueError(f"{what} holds texts in {len(port.shape)} dimensions: too many for Java here")
    if port.scale is not None and port.dtype not in _LIMITS and port.dtype != "int64":
        raise ValueError(f"{what} is quantized {port.dtype}: no code is known for that")
