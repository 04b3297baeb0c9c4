"""WHAT IS IN THE FILE?

    path, bytes, file ──> source ──> identity ──> flat + graph + metadata ──> Reading
                          (opened)   (is it one?)  (every offset checked)       ├─ Model
                                                                                └─ flaws

Nouns: `Model`, `Subgraph`, `Operator`, `Options`, `Tensor`, `Buffer`, `Quantization`, `Sparsity`,
`Signature`, `ModelCard`; `Reading` and `Flaw` for files that are not what they say.
Weights are read when they are asked for (`file_bytes`): the cost of a reading grows with operators and
tensors, not with weights.
"""

from outlive.model.buffer import Buffer
from outlive.model.card import AttachedFile, Conversion, MetadataEntry, ModelCard, TensorCard
from outlive.model.file_bytes import FileChanged
from outlive.model.flaw import Flaw, FlawKind
from outlive.model.identity import Identity, Source
from outlive.model.model import Model, Operator, OperatorCode, Options, Signature, Subgraph
from outlive.model.reader import Reading, read_source
from outlive.model.tensor import NOT_IN_NUMPY, ExternalBuffer, Quantization, SparseDimension, Sparsity, Tensor

PUBLIC_MODULES = ("file_bytes", "file_parts", "flatbuffer", "flaw", "schema", "zeros")

__all__ = [
    "NOT_IN_NUMPY",
    "AttachedFile",
    "Buffer",
    "Conversion",
    "ExternalBuffer",
    "FileChanged",
    "Flaw",
    "FlawKind",
    "Identity",
    "MetadataEntry",
    "Model",
    "ModelCard",
    "Operator",
    "OperatorCode",
    "Options",
    "Quantization",
    "Reading",
    "Signature",
    "Source",
    "SparseDimension",
    "Sparsity",
    "Subgraph",
    "Tensor",
    "TensorCard",
    "read_source",
]
