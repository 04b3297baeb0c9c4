"""What a model says about itself in words: the nouns of its metadata."""

from dataclasses import dataclass, field

from outlive.model.buffer import Buffer
from outlive.records import NOT_WRITTEN, in_document, written


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetadataEntry:
    """A named metadata buffer; `buffer` is None if the file has none of that index."""

    name: str
    buffer_index: int = field(metadata=written("buffer"))
    buffer: Buffer | None = field(repr=False, metadata=NOT_WRITTEN)

    @property
    def has_data(self) -> bool:
        """True if the file has bytes for it, be they none."""
        return self.buffer is not None and self.buffer.has_data

    @property
    def data(self) -> memoryview | None:
        """Its bytes."""
        return None if self.buffer is None else self.buffer.data

    @property
    @in_document()
    def size_bytes(self) -> int:
        """How many bytes it holds."""
        return 0 if self.buffer is None else self.buffer.size_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file in the zip archive at the model's end, such as a list of labels."""

    name: str
    size_bytes: int
    stored_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorCard:
    """What the model's author says about one input or output."""

    name: str
    description: str
    content: str
    dimension_names: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    minimum: tuple[float, ...]
    maximum: tuple[float, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """The TFLite metadata of a model: its name, author, license, inputs and outputs."""

    name: str
    description: str
    version: str
    author: str
    license: str
    min_parser_version: str
    inputs: tuple[TensorCard, ...]
    outputs: tuple[TensorCard, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """Where the converter says the model came from."""

    tensorflow_version: str
    api_version: int
    model_type: str
    optimizations: tuple[str, ...]
    allows_custom_ops: bool
    allows_tensorflow_ops: bool
