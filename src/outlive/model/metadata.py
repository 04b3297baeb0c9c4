"""Reads what a model says about itself: metadata buffers, attached files, control dependencies."""

from dataclasses import dataclass, replace

from outlive.model.attachments import BadArchive, has_zip, list_zip
from outlive.model.buffer import Buffer
from outlive.model.card import AttachedFile, Conversion, MetadataEntry, ModelCard, TensorCard
from outlive.model.file_bytes import FileBytes
from outlive.model.flatbuffer import FlatBuffer, Overspent, Record
from outlive.model.flaw import Flaw, FlawLog
from outlive.model.model import Subgraph
from outlive.model.schema import load_schema

_Edges = tuple[tuple[int, int], ...]
# kModelControlDependenciesMetadataVersion: LiteRT, tflite/converter/experimental/remat/metadata_util.h
_CONTROL_DEPENDENCIES_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Extras:
    """All of a file that does not take part in a run."""

    entries: tuple[MetadataEntry, ...]
    min_runtime_version: str = ""
    card: ModelCard | None = None
    conversion: Conversion | None = None
    attached_files: tuple[AttachedFile, ...] = ()
    control_dependencies: tuple[_Edges, ...] = ()

    def with_control_dependencies(self, subgraphs: tuple[Subgraph, ...]) -> tuple[Subgraph, ...]:
        """The subgraphs, each with the extra order of operators that the file asks for."""
        edges = self.control_dependencies[: len(subgraphs)]
        ordered = tuple(
            replace(subgraph, control_dependencies=edge) if edge else subgraph
            for subgraph, edge in zip(subgraphs, edges, strict=False)
        )
        return ordered + subgraphs[len(ordered) :]


def read_extras(flat: FlatBuffer, root: Record, buffers: tuple[Buffer, ...], log: FlawLog) -> Extras:
    """Everything metadata says; what cannot be read is noted and left out."""
    entries = _entries(root, buffers, log)
    found: dict[str, Buffer] = {}
    for entry in entries:
        if entry.has_data:
            found.setdefault(entry.name, buffers[entry.buffer_index])
    return Extras(
        entries=entries,
        min_runtime_version=_text(found.get("min_runtime_version")),
        card=_card(_inner(found.get("TFLITE_METADATA"), "ModelMetadata", log)),
        conversion=_conversion(_inner(found.get("CONVERSION_METADATA"), "ConversionMetadata", log)),
        attached_files=_attached_files(flat.file, log),
        control_dependencies=_control_dependencies(found.get("model_control_dependencies"), log),
    )


def _entries(root: Record, buffers: tuple[Buffer, ...], log: FlawLog) -> tuple[MetadataEntry, ...]:
    entries = []
    for record in root["metadata"] or ():
        index = record["buffer"]
        if index >= len(buffers):
            detail = f"buffer {index} of {len(buffers)}"
            log.add(Flaw(kind="dangling-index", detail=detail, table="Metadata", field="buffer"))
        buffer = buffers[index] if index < len(buffers) else None
        entries.append(MetadataEntry(name=record["name"] or "", buffer_index=index, buffer=buffer))
    return tuple(entries)


def _text(buffer: Buffer | None) -> str:
    if buffer is None:
        return ""
    return bytes(buffer.part(0, 64)).split(b"\0")[0].decode("utf-8", "backslashreplace")


def _inner(buffer: Buffer | None, table: str, log: FlawLog) -> Record | None:
    """The root of a FlatBuffer inside a metadata buffer; runtimes ignore it, so its flaws are mild."""
    if buffer is None or buffer.data is None:
        return None
    inner_log = FlawLog()
    inner = FlatBuffer(
        FileBytes(buffer.data), load_schema("metadata_schema"), inner_log, base=buffer.offset or 0
    )
    try:
        record = _unfold(inner.root(table))
    except Overspent:
        record = None
        inner_log.add(Flaw(kind="overlap", detail="decodes to far more than its size", table=table))
    for flaw in inner_log.flaws:
        log.add(replace(flaw, kind="bad-metadata"))
    return record


def _unfold(record: Record) -> Record:
    """The record with its vectors of tables read, so that the flaws in them are noted."""
    return {name: _unfold_value(value) for name, value in record.items()}


def _unfold_value(value: object) -> object:
    if isinstance(value, dict):
        return _unfold(value)
    if hasattr(value, "count") and not isinstance(value, (str, tuple)):
        return tuple(_unfold(row) for row in value)  # type: ignore[attr-defined]
    return value


def _card(root: Record | None) -> ModelCard | None:
    if root is None:
        return None
    graphs = root["subgraph_metadata"] or ()
    main: Record = graphs[0] if graphs else {}
    files = [*(root["associated_files"] or ()), *(main.get("associated_files") or ())]
    return ModelCard(
        name=root["name"] or "",
        description=root["description"] or "",
        version=root["version"] or "",
        author=root["author"] or "",
        license=root["license"] or "",
        min_parser_version=root["min_parser_version"] or "",
        inputs=tuple(_tensor_card(row) for row in main.get("input_tensor_metadata") or ()),
        outputs=tuple(_tensor_card(row) for row in main.get("output_tensor_metadata") or ()),
        files=tuple(row["name"] or "" for row in files),
    )


def _tensor_card(row: Record) -> TensorCard:
    content = row["content"] or {}
    stats = row["stats"] or {}
    norm: Record = next(
        (
            unit["options"]
            for unit in row["process_units"] or ()
            if unit["options_type"] == "NormalizationOptions" and unit["options"]
        ),
        {},
    )
    kind = str(content.get("content_properties_type", "NONE")).removesuffix("Properties").lower()
    return TensorCard(
        name=row["name"] or "",
        description=row["description"] or "",
        content="" if kind == "none" else kind,
        dimension_names=row["dimension_names"] or (),
        mean=norm.get("mean") or (),
        std=norm.get("std") or (),
        minimum=stats.get("min") or (),
        maximum=stats.get("max") or (),
        files=tuple(item["name"] or "" for item in row["associated_files"] or ()),
    )


def _conversion(root: Record | None) -> Conversion | None:
    if root is None:
        return None
    environment, options = root["environment"] or {}, root["options"] or {}
    return Conversion(
        tensorflow_version=environment.get("tensorflow_version") or "",
        api_version=environment.get("api_version", 0),
        model_type=str(environment.get("model_type", "NONE")),
        optimizations=tuple(str(mode) for mode in options.get("model_optimization_modes") or ()),
        allows_custom_ops=bool(options.get("allow_custom_ops")),
        allows_tensorflow_ops=bool(options.get("enable_select_tf_ops")),
    )


def _attached_files(file: FileBytes, log: FlawLog) -> tuple[AttachedFile, ...]:
    if not has_zip(file):
        return ()
    try:
        return list_zip(file)
    except BadArchive as error:
        log.add(Flaw(kind="bad-metadata", detail=f"zip archive at the end of the file: {error}"))
        return ()


def _control_dependencies(buffer: Buffer | None, log: FlawLog) -> tuple[_Edges, ...]:
    """Pairs (before, after) of operators per subgraph; -1 and -2 stand for the subgraph's ends."""
    if buffer is None or buffer.data is None:
        return ()
    try:
        return _parse_control_dependencies(bytes(buffer.data))
    except ValueError as error:
        log.add(
            Flaw(
                kind="bad-metadata",
                detail=f"model_control_dependencies: {error}",
                byte=buffer.offset,
                table="Metadata",
            )
        )
        return ()


def _parse_control_dependencies(data: bytes) -> tuple[_Edges, ...]:
    # varints, signed ones in zigzag: LiteRT, tflite/converter/experimental/remat/metadata_util.cc
    at = 0

    def unsigned() -> int:
        nonlocal at
        value = shift = 0
        while True:
            if at >= len(data) or shift > 28:
                raise ValueError("a number does not end")
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed() -> int:
        value = unsigned()
        return -(value // 2) - 1 if value % 2 else value // 2

    if unsigned() != _CONTROL_DEPENDENCIES_VERSION:
        raise ValueError("not version 1")
    graphs: list[_Edges] = []
    for _ in range(unsigned()):
        count = unsigned()
        if 2 * count > len(data) - at:
            raise ValueError(f"{count} pairs do not fit")
        graphs.append(tuple((signed(), signed()) for _ in range(count)))
    return tuple(graphs)
