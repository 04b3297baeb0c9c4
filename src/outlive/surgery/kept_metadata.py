"""What a model says about itself, as far as it is still true of a part: metadata and signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from outlive.model import Model, Signature
from outlive.surgery.assembly import AssembledPart
from outlive.surgery.selection import Selection
from outlive.surgery.tree import Tree

# True of every part: the least runtime is at most this one, the origin is the same, and so are the places in
# the source that operators refer to by debug_metadata_index.
_ALWAYS_TRUE = frozenset(
    {"min_runtime_version", "CONVERSION_METADATA", "reduced_precision_support", "debug_metadata"}
)
_CARD = "TFLITE_METADATA"
_OUTSIDE = "buffer_location"
_ORDER = "model_control_dependencies"
# kModelControlDependenciesMetadataVersion: LiteRT, tflite/converter/experimental/remat/metadata_util.h
_ORDER_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMetadata:
    """Metadata entries with their bytes, signatures, and the names of what is no longer true."""

    metadata: tuple[tuple[str, bytes | memoryview | None], ...]
    signatures: tuple[Tree, ...]
    dropped: tuple[str, ...]
    keeps_card: bool

    def into(self, tree: Tree) -> Tree:
        """The tree with them; their bytes become its last buffers."""
        first = len(tree["buffers"])
        entries = [{"name": name, "buffer": first + place} for place, (name, _) in enumerate(self.metadata)]
        return {
            **tree,
            "buffers": [*tree["buffers"], *({"data": data} for _, data in self.metadata)],
            "metadata": entries or None,
            "signature_defs": list(self.signatures) or None,
        }


def keep(model: Model, whole: Tree, part: AssembledPart, chosen: Selection, is_changed: bool) -> KeptMetadata:
    """What is still true; `is_changed` if any tensor of the part has another shape or value than it had."""
    main = model.subgraphs[0]
    is_whole = (
        not is_changed
        and len(part.tensors) == len(main.tensors)
        and len(chosen.ops) == len(main.operators)
        and len(part.subgraphs) == len(model.subgraphs)
    )
    # The card speaks of inputs and outputs in their order, and not of shapes.
    ends = tuple(main.input_indices), tuple(main.output_indices)
    keeps_card = ends == (chosen.inputs, chosen.outputs)
    entries, dropped = [], []
    for entry in model.metadata:
        data: bytes | memoryview | None = entry.data
        if entry.name == _ORDER and not is_whole:
            data = _order(model, part, chosen)
        if is_whole or _is_true(entry.name, part, keeps_card, data):
            entries.append((entry.name, data))
        else:
            dropped.append(f"metadata {entry.name[:80]!r}")
    signatures = tuple(_signatures(model, whole, part, chosen))
    still = {signature["signature_key"] for signature in signatures}
    dropped += [f"signature {item.key[:80]!r}" for item in model.signatures if item.key not in still]
    return KeptMetadata(
        metadata=tuple(entries), signatures=signatures, dropped=tuple(dropped), keeps_card=keeps_card
    )


def signed_subgraphs(model: Model) -> tuple[int, ...]:
    """Other subgraphs than the main one that can be called by a signature."""
    found = {signature.subgraph_index for signature in model.signatures} - {0}
    return tuple(sorted(index for index in found if index < len(model.subgraphs)))


def _is_true(name: str, part: AssembledPart, keeps_card: bool, data: bytes | memoryview | None) -> bool:
    if name == _CARD:
        return keeps_card
    if name == _OUTSIDE:
        return part.outside
    if name == _ORDER:
        return data is not None
    return name in _ALWAYS_TRUE


def _signatures(model: Model, whole: Tree, part: AssembledPart, chosen: Selection) -> Iterator[Tree]:
    numbers = {old: new for new, old in enumerate(part.tensors)}
    subgraphs = {old: new for new, old in enumerate(part.subgraphs)}
    for signature, old in zip(model.signatures, whole["signature_defs"] or (), strict=True):
        if signature.subgraph_index != 0:
            if signature.subgraph_index in subgraphs:
                yield {**old, "subgraph_index": subgraphs[signature.subgraph_index]}
        elif _is_fulfilled(signature, model, chosen):
            inputs = [(name, index) for name, index in signature.inputs if index in chosen.inputs]
            inputs += _unnamed(model, chosen, inputs)
            yield {
                **old,
                "inputs": _maps(inputs, numbers),
                "outputs": _maps(signature.outputs, numbers),
            }


def _is_fulfilled(signature: Signature, model: Model, chosen: Selection) -> bool:
    outputs = {index for _, index in signature.outputs}
    same = chosen.outputs == tuple(model.subgraphs[0].output_indices)
    return outputs <= {*chosen.outputs} if outputs else same


def _unnamed(model: Model, chosen: Selection, named: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Inputs that the signature does not know yet, by the names of their tensors."""
    names, known = {name for name, _ in named}, {index for _, index in named}
    found = []
    for index in chosen.inputs:
        if index not in known:
            name = model.subgraphs[0].tensors[index].name or "input"
            name = name if name not in names else f"{name}#{index}"
            names.add(name)
            found.append((name, index))
    return found


def _maps(pairs: Sequence[tuple[str, int]], numbers: Mapping[int, int]) -> list[Tree]:
    return [{"name": name, "tensor_index": numbers[index]} for name, index in pairs]


def _order(model: Model, part: AssembledPart, chosen: Selection) -> bytes | None:
    """The order of operators that data does not show, for those that are left; None if there is none."""
    # -1 and -2 stand for the ends of the subgraph.
    kept = {-1: -1, -2: -2, **{old: new for new, old in enumerate(chosen.ops)}}
    edges = model.subgraphs[0].control_dependencies
    main = [(kept[a], kept[b]) for a, b in edges if a in kept and b in kept]
    others = [model.subgraphs[index].control_dependencies for index in part.subgraphs[1:]]
    graphs = [tuple(main), *others]
    return _encode(graphs) if any(graphs) else None


def _encode(graphs: Sequence[Sequence[tuple[int, int]]]) -> bytes:
    # Numbers of seven bits to a byte, signed ones in zigzag: LiteRT, tflite/converter/experimental/remat/
    # metadata_util.cc
    written = bytearray()

    def unsigned(value: int) -> None:
        while value > 127:
            written.append(value & 127 | 128)
            value >>= 7
        written.append(value)

    unsigned(_ORDER_VERSION)
    unsigned(len(graphs))
    for edges in graphs:
        unsigned(len(edges))
        for pair in edges:
            for value in pair:
                unsigned(2 * value if value >= 0 else -2 * value - 1)
    return bytes(written)
