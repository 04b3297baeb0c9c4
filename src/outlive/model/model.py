"""The model as plain data: subgraphs, operators, signatures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from outlive.model.buffer import Buffer
from outlive.model.card import AttachedFile, Conversion, MetadataEntry, ModelCard
from outlive.model.file_bytes import FileBytes
from outlive.model.flaw import Flaw
from outlive.model.tensor import Tensor
from outlive.names import safe
from outlive.records import NOT_WRITTEN, ModelFile, in_document, written
from outlive.results import Result, Summary, file_name
from outlive.units import format_bytes, plural


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Options:
    """The decoded options of an operator: `options["stride_h"]`; enums as their names."""

    table: str
    values: Mapping[str, object]

    def __getitem__(self, name: str) -> object:
        """The value of one option."""
        return self.values[name]

    def get(self, name: str, default: object = None) -> object:
        """The value of one option, or `default` if there is none of that name."""
        return self.values.get(name, default)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operator:
    """One step of a subgraph. `type` is the builtin's name or CUSTOM; `-1` in `inputs` is a left-out one."""

    index: int
    type: str
    custom_name: str = field(metadata=NOT_WRITTEN)
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    intermediates: tuple[int, ...]
    options: Options | None
    custom_options: memoryview | None = field(repr=False, metadata=NOT_WRITTEN)
    mutating_inputs: tuple[bool, ...]

    @property
    @in_document("options")
    def option_values(self) -> Mapping[str, Any] | None:
        """The options by name; None if there are none."""
        return None if self.options is None else self.options.values

    @property
    @in_document()
    def options_table(self) -> str | None:
        """The table of the schema that the options are from."""
        return None if self.options is None else self.options.table

    @property
    @in_document()
    def custom_options_bytes(self) -> int | None:
        """The size of a custom operator's options."""
        return None if self.custom_options is None else self.custom_options.nbytes

    @property
    @in_document()
    def name(self) -> str:
        """The operator's name: the builtin's, or the custom one."""
        return self.custom_name if self.type == "CUSTOM" and self.custom_name else self.type

    @property
    def is_custom(self) -> bool:
        """True if the runtime must be given this operator."""
        return self.type == "CUSTOM"

    def subgraphs(self) -> tuple[int, ...]:
        """Indices of the subgraphs this operator calls (control flow)."""
        if self.options is None:
            return ()
        # CALL has the first, STABLEHLO_CASE the last, all others end in the second.
        named = ("subgraph", "subgraph_index", "subgraph_indices")
        found = (value for name, value in self.options.values.items() if name.endswith(named))
        lists = (value if isinstance(value, tuple) else (value,) for value in found)
        return tuple(index for indices in lists for index in indices if isinstance(index, int))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCode:
    """A kind of operator the model uses."""

    type: str
    custom_name: str
    version: int
    newer_field: str = ""  # what `builtin_code` says, the newer of the two fields for it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Subgraph(Summary):
    """Tensors, and the operators over them in the order the runtime runs them."""

    index: int
    name: str
    tensors: tuple[Tensor, ...]
    input_indices: tuple[int, ...] = field(metadata=written("inputs"))
    output_indices: tuple[int, ...] = field(metadata=written("outputs"))
    operators: tuple[Operator, ...]
    control_dependencies: tuple[tuple[int, int], ...] = ()

    def _summary(self) -> tuple[str, str]:
        """Its number, its name, and how much is in it."""
        counts = f"{plural(len(self.operators), 'operator')}, {plural(len(self.tensors), 'tensor')}"
        return f"{self.index} {safe(self.name, 40)!r}", counts

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors a caller fills."""
        return tuple(self.tensors[i] for i in self.input_indices if 0 <= i < len(self.tensors))

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The tensors a caller reads."""
        return tuple(self.tensors[i] for i in self.output_indices if 0 <= i < len(self.tensors))

    def consumers(self) -> dict[int, list[int]]:
        """Which operators read each tensor."""
        readers: dict[int, list[int]] = {}
        for operator in self.operators:
            for tensor in operator.inputs:
                readers.setdefault(tensor, []).append(operator.index)
        return readers

    def producers(self) -> dict[int, int]:
        """Which operator writes each tensor."""
        return {tensor: operator.index for operator in self.operators for tensor in operator.outputs}


class NamedTensor(NamedTuple):
    """An argument of a signature, and the tensor that it stands for."""

    name: str
    tensor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A named way to call the model: argument names, and the tensors they stand for."""

    key: str
    subgraph_index: int = field(metadata=written("subgraph"))
    inputs: tuple[NamedTensor, ...]
    outputs: tuple[NamedTensor, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Model(Result):
    """Everything a `.tflite` file says, read without running it; weights are read when they are asked for."""

    path: str | None = field(metadata=NOT_WRITTEN)
    file: FileBytes = field(repr=False, metadata=NOT_WRITTEN)
    schema_version: int
    description: str
    operator_codes: tuple[OperatorCode, ...]
    subgraphs: tuple[Subgraph, ...]
    buffers: tuple[Buffer, ...] = field(repr=False)
    signatures: tuple[Signature, ...]
    metadata: tuple[MetadataEntry, ...]
    min_runtime_version: str
    card: ModelCard | None
    conversion: Conversion | None
    attached_files: tuple[AttachedFile, ...]
    flaws: tuple[Flaw, ...] = field(metadata=NOT_WRITTEN)

    kind: ClassVar[str] = "read"
    tables = (("tensors", Tensor), ("operators", Operator))

    def _summary(self) -> tuple[str, str]:
        """The file, its size, and what it takes and gives."""
        count = sum(len(subgraph.operators) for subgraph in self.subgraphs)
        ends = f"{_ends(self.inputs)} -> {_ends(self.outputs)}"
        return file_name(self.path), f"{format_bytes(self.file_bytes)}, {plural(count, 'operator')}, {ends}"

    @property
    @in_document()
    def model(self) -> ModelFile:
        """The file that it was read from."""
        return ModelFile(path=self.path, sha256=self.sha256, file_bytes=self.file_bytes)

    @property
    @in_document()
    def inputs(self) -> tuple[Tensor, ...]:
        """The inputs of the main subgraph."""
        return self.subgraphs[0].inputs if self.subgraphs else ()

    @property
    @in_document()
    def outputs(self) -> tuple[Tensor, ...]:
        """The outputs of the main subgraph."""
        return self.subgraphs[0].outputs if self.subgraphs else ()

    @property
    def content(self) -> memoryview:
        """All bytes of the file, which stay in memory from now on. `ModelError` if it has changed."""
        return self.file.look(0, self.file.size)

    @property
    def file_bytes(self) -> int:
        """The size of the file."""
        return self.file.size

    @cached_property
    def sha256(self) -> str:
        """The digest of the whole file; computed when first asked for."""
        return self.file.digest(0, self.file.size).hex()

    def tensors(self) -> Iterator[Tensor]:
        """All tensors of all subgraphs."""
        for subgraph in self.subgraphs:
            yield from subgraph.tensors

    def operators(self) -> Iterator[Operator]:
        """All operators of all subgraphs."""
        for subgraph in self.subgraphs:
            yield from subgraph.operators

    def signature_tensors(self, subgraph: int) -> frozenset[int]:
        """The tensors of a subgraph that signatures name."""
        signed = (signature for signature in self.signatures if signature.subgraph_index == subgraph)
        return frozenset(index for one in signed for _, index in (*one.inputs, *one.outputs))


def _ends(tensors: tuple[Tensor, ...]) -> str:
    shown = ", ".join(f"{safe(tensor.name, 24)} {tensor.dtype}" for tensor in tensors[:3])
    return shown + (f" and {len(tensors) - 3} more" if len(tensors) > 3 else "")
