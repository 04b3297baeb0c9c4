"""What a quantization comes to: plain data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from outlive.atomic_files import write_whole
from outlive.finding import Finding
from outlive.names import safe
from outlive.quant.drift import InputRange
from outlive.records import NOT_WRITTEN, FileSize, in_document
from outlive.units import format_bytes, plural

Recipe = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResult:
    """What became of one operator: `how` is int8, int16, int8 weights, float ...; `why` it is float."""

    op: int
    type: str
    name: str
    how: str
    why: str = ""

    @property
    @in_document("quantized")
    def is_quantized(self) -> bool:
        """True if anything of it is no longer float32."""
        return self.how not in ("float", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedStep:
    """One try on the way to a target: the layers that stayed float, and what it came to."""

    kept: tuple[str, ...]
    file_bytes: int
    sqnr_db: float | None
    agreement: float | None
    met: bool
    user_metrics: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Quantized:
    """A quantized model: `.model` is its bytes, accepted wherever a source is; `.save(path)` writes them.

    `layers` says what became of each operator of the float model, and `findings` what is to be said of it.
    `refusal` is what the runtime says if it does not take the model; `steps` are the tries, where there was
    a target to meet.
    """

    kind: ClassVar[str] = "quantize"

    model: bytes = field(repr=False, metadata=NOT_WRITTEN)
    recipe: str
    samples: int
    float_bytes: int = field(metadata=NOT_WRITTEN)
    seconds: float
    layers: tuple[LayerResult, ...]
    input_ranges: tuple[InputRange, ...] = field(default=(), metadata=NOT_WRITTEN)
    refusal: str = field(default="", metadata=NOT_WRITTEN)
    steps: tuple[MixedStep, ...] = ()
    source_path: str | None = field(default=None, metadata=NOT_WRITTEN)
    output_path: str | None = field(default=None, metadata=NOT_WRITTEN)
    findings: tuple[Finding, ...] = ()

    @property
    @in_document("model")
    def source(self) -> FileSize:
        """The float model that it was made of."""
        return FileSize(path=self.source_path, file_bytes=self.float_bytes)

    @property
    @in_document()
    def output(self) -> FileSize:
        """The file that was written."""
        return FileSize(path=self.output_path, file_bytes=self.file_bytes)

    def __repr__(self) -> str:
        """In a line: the recipe, and how much it made of the model."""
        share = f"{len(self.quantized_layers)} of {plural(len(self.layers), 'operator')}"
        return f"<Quantized {safe(self.recipe, 100)}: {share}, {format_bytes(self.file_bytes)}>"

    @property
    def file_bytes(self) -> int:
        """The size of the quantized file."""
        return len(self.model)

    @property
    def quantized_layers(self) -> tuple[LayerResult, ...]:
        """The operators that are no longer float."""
        return tuple(layer for layer in self.layers if layer.is_quantized)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all."""
        write_whole(path, self.model)
