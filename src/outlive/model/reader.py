"""Assembles a `Model` from decoded tables and notes every reference that leads nowhere."""

from dataclasses import dataclass

from outlive.model.buffer import Buffer
from outlive.model.file_bytes import FileChanged, Refusal, as_it_is
from outlive.model.flatbuffer import FlatBuffer, Overspent, Record
from outlive.model.flaw import Flaw, FlawKind, FlawLog
from outlive.model.graph_reader import GraphReader, fast_constructor
from outlive.model.identity import Content, Identity, Source, identify, open_source
from outlive.model.metadata import Extras, read_extras
from outlive.model.model import Model, NamedTensor, OperatorCode, Signature, Subgraph
from outlive.model.schema import load_schema
from outlive.model.tensor import ExternalBuffer

# What no runtime takes for a model; one without the identifier may still be one, for a lenient runtime.
_NO_MODELS = frozenset(
    {"unreadable", "directory", "empty", "git-lfs-pointer", "web-page", "zip-archive", "text", "other-format"}
)
# What every runtime refuses to load: its verifier (LiteRT, tflite/core/model_builder.cc) looks for the one,
# its builder (tflite/core/interpreter_builder.cc) for the other.
_REFUSED_FLAWS = frozenset({"past-end", "bad-version"})
# TFLITE_SCHEMA_VERSION: LiteRT, tflite/version.h
_SCHEMA_VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """What came of opening a file: what it is, the model as far as it can be read, what is wrong."""

    path: str | None
    file_bytes: int
    identity: Identity
    model: Model | None
    flaws: tuple[Flaw, ...] = ()
    flaw_count: int = 0

    @property
    def is_loadable(self) -> bool:
        """False if every runtime refuses to load the file: no model, cut off, or of another schema."""
        return self.identity.kind not in _NO_MODELS and not any(
            flaw.kind in _REFUSED_FLAWS for flaw in self.flaws
        )


def read_source(source: Source | Model, refusal: Refusal = as_it_is) -> Reading:
    """Read a path, bytes or a file object. Bad bytes never raise: they end as flaws of the reading.

    Weights are read later: where the file has changed by then, that raises what `refusal` makes of it.
    """
    if isinstance(source, Model):
        return Reading(
            path=source.path,
            file_bytes=source.file_bytes,
            identity=Identity(kind="model"),
            model=source,
            flaws=source.flaws,
            flaw_count=len(source.flaws),
        )
    content = open_source(source, refusal)
    try:
        reading = _read(content)
        content.file.close()
    except FileChanged as change:
        # Of a file that changes while it is read nothing is believed, not even what came before.
        identity = Identity(kind="changed", detail=change.detail)
        return Reading(path=content.path, file_bytes=content.file.size, identity=identity, model=None)
    finally:
        content.file.release()
    return reading


def _read(content: Content) -> Reading:
    identity, log, model = identify(content), FlawLog(), None
    if identity.kind == "model":
        try:
            model = _ModelReader(content, log).read()
        except Overspent:
            detail = "tables and vectors refer to the same bytes many times and decode to more than the file"
            log.add(Flaw(kind="overlap", detail=detail))
    return Reading(
        path=content.path,
        file_bytes=content.file.size,
        identity=identity,
        model=model,
        flaws=tuple(log.flaws),
        flaw_count=log.count,
    )


_make_buffer = fast_constructor(Buffer)


class _ModelReader:
    """Reads one file from its root table down."""

    def __init__(self, content: Content, log: FlawLog) -> None:
        self._content, self._log = content, log
        self._schema = load_schema()
        self._flat = FlatBuffer(content.file, self._schema, log)

    def read(self) -> Model | None:
        root = self._flat.root("Model")
        if root["subgraphs"] is None and {"past-end", "malformed"} & {flaw.kind for flaw in self._log.flaws}:
            return None  # not even the root table makes sense
        if root["version"] != _SCHEMA_VERSION:
            detail = f"version {root['version']}; runtimes read version {_SCHEMA_VERSION} only"
            self._note("bad-version", detail, "version")
        codes = self._operator_codes(root)
        buffers = self._buffers(root)
        external = self._external_buffers(root)
        graph_reader = GraphReader(self._flat, codes, buffers, external)
        subgraphs = tuple(
            graph_reader.subgraph(index, record) for index, record in enumerate(root["subgraphs"] or ())
        )
        if not subgraphs:
            self._note("missing", "no subgraph", "subgraphs")
        self._check_calls(subgraphs)
        signatures = tuple(self._signature(record, subgraphs) for record in root["signature_defs"] or ())
        extras = read_extras(self._flat, root, buffers, self._log)
        return self._make(root, codes, buffers, subgraphs, signatures, extras)

    def _make(
        self,
        root: Record,
        codes: tuple[OperatorCode, ...],
        buffers: tuple[Buffer, ...],
        subgraphs: tuple[Subgraph, ...],
        signatures: tuple[Signature, ...],
        extras: Extras,
    ) -> Model:
        return Model(
            path=self._content.path,
            file=self._content.file,
            schema_version=root["version"],
            description=root["description"] or "",
            operator_codes=codes,
            subgraphs=extras.with_control_dependencies(subgraphs),
            buffers=buffers,
            signatures=signatures,
            metadata=extras.entries,
            min_runtime_version=extras.min_runtime_version,
            card=extras.card,
            conversion=extras.conversion,
            attached_files=extras.attached_files,
            flaws=tuple(self._log.flaws),
        )

    def _note(self, kind: FlawKind, detail: str, field: str, path: tuple[str, ...] = ()) -> None:
        self._log.add(Flaw(kind=kind, detail=detail, table="Model", field=field, path=path))

    def _operator_codes(self, root: Record) -> tuple[OperatorCode, ...]:
        names = self._schema.enums["BuiltinOperator"]
        numbers = {word: number for number, word in names.names.items()}
        codes = []
        for record in root["operator_codes"] or ():
            # The larger of the old and the new field counts: LiteRT, tflite/converter/schema/schema_utils.cc
            new = record["builtin_code"]
            number = max(numbers.get(new, new), record["deprecated_builtin_code"])
            kind = names.names.get(number, f"unknown {number}")
            if number not in names.names and new in numbers:
                # The decoder has spoken up about the new field only.
                self._note("unknown-operator", f"operator code {number}", "operator_codes")
            if kind == "CUSTOM" and record["custom_code"] is None:
                self._note("missing", "custom operator without a name", "operator_codes")
            codes.append(
                OperatorCode(
                    type=kind,
                    custom_name=record["custom_code"] or "",
                    version=record["version"],
                    newer_field=str(new),
                )
            )
        return tuple(codes)

    def _buffers(self, root: Record) -> tuple[Buffer, ...]:
        if root["buffers"] is None:
            self._note("missing", "no list of buffers", "buffers")
        file = self._flat.file
        return tuple(
            [
                _make_buffer(index, file, span[1] - span[0], span[0], False)
                if (span := record["data"]) is not None
                else self._outside_buffer(index, record)
                for index, record in enumerate(root["buffers"] or ())
            ]
        )

    def _outside_buffer(self, index: int, record: Record) -> Buffer:
        """A buffer without data of its own: kept behind the FlatBuffer, or empty."""
        start, size = record["offset"], record["size"]
        # Offsets 0 and 1 mean "none": LiteRT, tflite/core/interpreter_builder.cc
        if start <= 1:
            return Buffer(index=index, file=self._flat.file, length=None, offset=None)
        if start + size > self._flat.size:
            detail = f"{size:,} bytes at byte {start:,}"
            flaw = Flaw(
                kind="outside-buffer", detail=detail, table="Buffer", field="offset", reach=start + size
            )
            self._log.add(flaw)
            return Buffer(index=index, file=self._flat.file, length=None, offset=start, outside=True)
        return Buffer(index=index, file=self._flat.file, length=size, offset=start, outside=True)

    def _external_buffers(self, root: Record) -> dict[int, ExternalBuffer]:
        groups = [record["name"] or "" for record in root["external_buffer_groups"] or ()]
        found = {}
        for record in root["external_buffers"] or ():
            group = record["group"]
            if group >= len(groups):
                detail = f"group {group} of {len(groups)}"
                self._note("dangling-index", detail, "external_buffers")
            found[record["id"]] = ExternalBuffer(
                id=record["id"],
                group=groups[group] if group < len(groups) else "",
                offset=record["offset"],
                size_bytes=record["length"],
                packing=record["packing"] or "",
            )
        return found

    def _check_calls(self, subgraphs: tuple[Subgraph, ...]) -> None:
        calls = (
            (subgraph, operator, target)
            for subgraph in subgraphs
            for operator in subgraph.operators
            for target in operator.subgraphs()
        )
        for subgraph, operator, target in calls:
            if not 0 <= target < len(subgraphs):
                detail = f"{operator.name[:80]} calls subgraph {target} of {len(subgraphs)}"
                path = (f"subgraph {subgraph.index}", f"operator {operator.index}")
                self._note("dangling-index", detail, "subgraphs", path)

    def _signature(self, record: Record, subgraphs: tuple[Subgraph, ...]) -> Signature:
        graph = record["subgraph_index"]
        if record["signature_key"] is None:
            self._note("missing", "signature without a name", "signature_defs")
        if graph >= len(subgraphs):
            detail = f"subgraph {graph} of {len(subgraphs)}"
            self._note("dangling-index", detail, "signature_defs")
        tensors = len(subgraphs[graph].tensors) if graph < len(subgraphs) else None
        sides = []
        for side in ("inputs", "outputs"):
            pairs = tuple(NamedTensor(row["name"] or "", row["tensor_index"]) for row in record[side] or ())
            for name, tensor in pairs:
                if tensors is not None and tensor >= tensors:
                    detail = f"{name[:80]!r} names tensor {tensor} of {tensors}"
                    self._note("dangling-index", detail, "signature_defs")
            sides.append(pairs)
        key = record["signature_key"] or ""
        return Signature(key=key, subgraph_index=graph, inputs=sides[0], outputs=sides[1])
