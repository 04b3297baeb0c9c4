"""What of a result is in its JSON document, said in its class; and the class as a type of msgspec.

    class ──fields, `written(...)`, `@in_document()`──> a msgspec Struct ──> the document, its JSON Schema
      ^                                                        └──read back, types checked──┐
      └─────────────────────────────────────────────────────────────────────────────────────┘

A document has the fields of the class, in their order, and the properties that are marked `in_document`; one
with the name of a field takes its place. So a new field of a document is written down once: in the class.
msgspec is loaded when the first document is made, not with the classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache, reduce
from inspect import cleandoc
from keyword import iskeyword
from operator import attrgetter, itemgetter, or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

SCHEMA = "outlive/1"
Json = dict[str, object]

_KEY = "document"
_MARK = "__in_document__"
_ALWAYS = "always"
_ABSENT = object()
_FIRST, _LAST = "model", "findings"
# What is counted fits 64 bits; a larger number is none of ours.
_MOST = 2**63
Getter = TypeVar("Getter", bound=Callable[..., Any])
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How a field or a property stands in a document.

    `name` is its name there, if it is another. With `omit` it is left out where it is the default (a
    property: None), with `null` what is empty is null. The fields of a `flat` one stand in its place. What is
    `own` is only in a document of its own, and not where the result is a part of another; `document` writes
    the part as a whole document. `back` gives the arguments of the class for the value that was read.
    """

    name: str = ""
    omit: bool = False
    null: bool = False
    flat: bool = False
    own: bool = False
    document: bool = False
    back: Callable[[Any], Mapping[str, Any]] | None = None


# For fields that are no part of the record.
NOT_WRITTEN: Mapping[str, Any] = {_KEY: None}


def written(name: str = "", **how: Any) -> Mapping[str, Any]:
    """The metadata of a dataclass field that is written in another way than as it is: see `Written`."""
    return {_KEY: Written(name=name, **how)}


def in_document(name: str = "", **how: Any) -> Callable[[Getter], Getter]:
    """Put a property into the document: `@property`, and this below it."""

    def mark(getter: Getter) -> Getter:
        setattr(getter, _MARK, Written(name=name, **how))
        return getter

    return mark


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """Which file a result is about: `path` is None for bytes."""

    path: str | None
    sha256: str | None
    file_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPath:
    """The path of the model that a result is about; None for a model given as bytes."""

    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSize:
    """A file and its size; the path is None for bytes."""

    path: str | None
    file_bytes: int


def document_of(result: Any, **given: Any) -> Json:
    """The document of a result: its schema, its kind, and what its class says.

    What is `given` stands in the place of what the result says itself: findings that somebody else had. A
    result that is written as another one says so by `as_document`.
    """
    written = getattr(result, "as_document", result)
    kind: Any = type(written)
    document: Json = _builtins(_class_codec(kind, True).write(written, **given))
    return document


def part_of(value: Any) -> Any:
    """A value as it stands in documents."""
    return _builtins(_plain(value))


def field_names(kind: Any) -> list[str]:
    """What the fields of such a part are called in documents, in order."""
    return [item.name for item in _items(kind) if not item.how.own]


def read_result(document: Any, kind: Any) -> Any:
    """The result whose document this is; ValueError if it is none, or a field has another type."""
    return _read(document, _class_codec(kind, True), f"document of kind {kind.kind}")


def read_part(value: Any, kind: Any) -> Any:
    """What `part_of` a value of this class wrote, as such a value again; ValueError if it is none."""
    return _read(value, _codec(kind), kind.__name__)


def _read(value: Any, codec: _Codec, what: str) -> Any:
    """Fields that a class has a default for may be missing: those of an older version are."""
    import msgspec

    try:
        return codec.read(msgspec.convert(value, codec.type))
    except (msgspec.ValidationError, RecursionError, OverflowError) as error:
        raise ValueError(f"it is no {what}: {error!s:.200}") from error


def schema_of(kinds: Sequence[Any]) -> Json:
    """The JSON Schema of documents, or of parts of them, that are one of these classes."""
    import msgspec

    types = [_class_codec(kind, hasattr(kind, "kind")).type for kind in kinds]
    schemas, parts = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for part in parts.values():
        # Say which fields a document always has: more than those that have to be there to be read.
        named = part.get("properties", {})
        always = [name for name, field in named.items() if field.pop(_ALWAYS, False)]
        required = {*part.get("required", ()), *always}
        if required:
            part["required"] = [name for name in named if name in required]
    top = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "$defs": parts}


def copy_fields(kind: type[Made], *sources: object, **given: Any) -> Made:
    """A `kind` of the fields `given`; the others are taken from the first of the sources that has them."""
    names = [item.name for item in fields(kind) if item.name not in given]  # type: ignore[arg-type]
    for name in names:
        for source in sources:
            if hasattr(source, name):
                given[name] = getattr(source, name)
                break
    return kind(**given)


def _builtins(value: Any) -> Any:
    import msgspec

    return msgspec.to_builtins(value, enc_hook=str)


@dataclass(frozen=True, slots=True)
class _Codec:
    """A type of msgspec, what makes its values of ours, and the way back."""

    type: Any
    write: Callable[..., Any]
    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _Item:
    """One field of a document: where its value is, and the argument of the class that it is, if it is one."""

    name: str
    get: Callable[[Any], Any]
    codec: _Codec
    how: Written
    argument: str = ""
    default: Any = None

    def typed(self) -> tuple[Any, ...]:
        """Its type, and UNSET where it may be missing from what is read."""
        import msgspec

        kind = self.codec.type | None if self.how.null else self.codec.type
        if self.how.omit:
            return kind | msgspec.UnsetType, msgspec.UNSET
        if self.argument and self.default is MISSING:
            return (kind,)
        always = msgspec.Meta(extra_json_schema={_ALWAYS: True})
        return Annotated[kind | msgspec.UnsetType, always], msgspec.UNSET

    def write(self, result: Any) -> Any:
        """The value in the document; UNSET if it is left out."""
        import msgspec

        value = self.get(result)
        if self.how.omit and value == self.default:
            return msgspec.UNSET
        return None if self.how.null and not value else self.codec.write(value)

    def read(self, value: Any) -> Mapping[str, Any]:
        """The arguments of the class that it gives."""
        import msgspec

        is_missing = value is msgspec.UNSET or (value is None and self.how.null)
        if is_missing or not (self.how.back or self.argument):
            return {}
        found = self.codec.read(value)
        return {self.argument: found} if self.how.back is None else self.how.back(found)


def _same(value: Any) -> Any:
    return value


def _whole(value: int) -> int:
    if not -_MOST <= value < 2 * _MOST:
        raise OverflowError("a number is larger than any of ours")
    return value


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: they are written as the strings of that name."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _plain(value: Any) -> Any:
    """Any value as msgspec takes it, whatever a file has put into it."""
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return [_plain(item) for item in value]
    if isinstance(value, memoryview):
        return {"bytes": value.nbytes}
    kind: Any = type(value)
    return _codec(kind).write(value) if is_dataclass(value) or isinstance(value, tuple) else value


@cache
def _codec(hint: Any) -> _Codec:
    """What msgspec and we have to know of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    found = origin or hint
    if origin in (Union, UnionType):
        return _union_codec(inner)
    if origin is tuple and inner[-1] is not Ellipsis:
        return _row_codec([_codec(part) for part in inner])
    if origin in (tuple, list, Sequence):
        return _list_codec(_codec(inner[0]), list if origin is list else tuple)
    if isinstance(found, type) and issubclass(found, Mapping):
        key, one = (*inner, str)[0], _codec(inner[1] if len(inner) > 1 else int if inner else Any)
        return _mapping_codec(key, one)
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return _class_codec(hint, False)
    if hint is float:
        return _Codec(float | Literal["NaN", "Infinity", "-Infinity"], _finite, float)
    if hint is int:
        return _Codec(int, _same, _whole)
    if isinstance(hint, type) and issubclass(hint, Path):
        return _Codec(str, str, hint)
    is_plain = hint in (str, bool, None, NoneType) or (isinstance(hint, type) and issubclass(hint, Enum))
    return _Codec(hint, _same, _same) if is_plain or origin is Literal else _Codec(Any, _plain, _same)


def _list_codec(one: _Codec, made: Callable[[Any], Any]) -> _Codec:
    return _Codec(
        list[one.type],  # type: ignore[name-defined]
        lambda rows: [one.write(row) for row in rows],
        lambda rows: made(map(one.read, rows)),
    )


def _row_codec(parts: Sequence[_Codec]) -> _Codec:
    return _Codec(
        tuple.__class_getitem__(tuple(part.type for part in parts)),
        lambda row: [part.write(item) for part, item in zip(parts, row, strict=True)],
        lambda row: tuple(part.read(item) for part, item in zip(parts, row, strict=True)),
    )


def _mapping_codec(key: Any, one: _Codec) -> _Codec:
    return _Codec(
        dict[key, one.type],  # type: ignore[name-defined]
        lambda rows: {name: one.write(value) for name, value in rows.items()},
        lambda rows: {name: one.read(value) for name, value in rows.items()},
    )


def _union_codec(hints: Sequence[Any]) -> _Codec:
    rest = [hint for hint in hints if hint is not NoneType]
    if len(rest) == 1:
        one = _codec(rest[0])
        return _Codec(
            one.type | None,
            lambda value: None if value is None else one.write(value),
            lambda value: None if value is None else one.read(value),
        )
    types = [_codec(hint).type for hint in hints]
    return _Codec(Any if Any in types else reduce(or_, types), _plain, _same)


@cache
def _class_codec(cls: Any, whole: bool) -> _Codec:
    """A class; `whole` as a document with its schema and kind."""
    import msgspec

    items = [item for item in _items(cls) if whole or not item.how.own]
    keys = {
        item.name: item.name if item.name.isidentifier() and not iskeyword(item.name) else f"field_{number}"
        for number, item in enumerate(items)
    }
    kind: Any = Literal[cls.kind] if whole and cls.kind else str
    head: list[Any] = [("schema", Literal[SCHEMA]), ("kind", kind)] if whole else []
    body = [(keys[item.name], *item.typed()) for item in items]
    struct: Any = msgspec.defstruct(
        cls.__name__,
        [*head, *body],
        kw_only=True,
        rename={key: name for name, key in keys.items() if key != name},
        namespace={"__doc__": cleandoc(cls.__doc__ or "")},
        module=cls.__module__,
    )

    def write(result: Any, **given: Any) -> Any:
        first = {"schema": SCHEMA, "kind": given.get("kind", cls.kind)} if whole else {}
        values = {
            keys[item.name]: item.codec.write(given[item.name]) if item.name in given else item.write(result)
            for item in items
        }
        return struct(**first, **values)

    def read(document: Any) -> Any:
        arguments: dict[str, Any] = {}
        for item in items:
            arguments.update(item.read(getattr(document, keys[item.name])))
        return cls(**arguments)

    return _Codec(struct, write, read)


@cache
def _items(cls: Any) -> tuple[_Item, ...]:
    """The fields of a class's document, in order."""
    hints, bases = get_type_hints(cls), cls.__mro__
    if not is_dataclass(cls):
        return tuple(
            _Item(name, itemgetter(number), _codec(hints[name]), Written(), name, MISSING)
            for number, name in enumerate(cls._fields)
        )
    found: dict[str, _Item] = {}
    for field in fields(cls):
        how = field.metadata.get(_KEY, Written())
        if how is not None:
            usual = field.default if field.default_factory is MISSING else field.default_factory()
            _put(found, field.name, how, hints[field.name], field.name, usual)
    for name, value in (pair for base in reversed(bases) for pair in vars(base).items()):
        getter = getattr(value, "fget", None) or getattr(value, "func", None)
        how = getattr(getter, _MARK, None)
        if how is not None:
            _put(found, name, how, get_type_hints(getter)["return"])
    order = {_FIRST: 0, _LAST: 2}
    return tuple(sorted(found.values(), key=lambda item: order.get(item.name, 1)))


def _put(
    found: dict[str, _Item], attribute: str, how: Written, hint: Any, argument: str = "", default: Any = None
) -> None:
    if how.flat:
        _put_flat(found, attrgetter(attribute), hint)
        return
    codec = _document_codec(hint) if how.document else _codec(hint)
    name = how.name or attribute
    found[name] = _Item(name, attrgetter(attribute), codec, how, argument, default)


def _put_flat(found: dict[str, _Item], get: Callable[[Any], Any], hint: Any) -> None:
    """The fields of a part in its place; where there may be none of it, they are left out then."""
    parts = [part for part in get_args(hint) if part is not NoneType]
    for item in (item for item in _items(parts[0] if parts else hint) if not item.how.own):
        how = replace(item.how, omit=True) if parts else item.how
        default = _ABSENT if parts else item.default
        found[item.name] = _Item(item.name, _after(item.get, get), item.codec, how, "", default)


def _document_codec(hint: Any) -> _Codec:
    """A part that is a document of its own, or several, or something else in its place."""
    inner = get_args(hint)
    if get_origin(hint) is tuple:
        return _list_codec(_document_codec(inner[0]), list)
    if not inner:
        return _class_codec(hint, True) if hasattr(hint, "__dataclass_fields__") else _codec(hint)
    parts = {get_origin(part) or part: _document_codec(part) for part in inner}
    types = [part.type for part in parts.values()]
    return _Codec(reduce(or_, types), lambda value: parts[type(value)].write(value), _same)


def _after(second: Callable[[Any], Any], first: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def get(result: Any) -> Any:
        part = first(result)
        return _ABSENT if part is None else second(part)

    return get
