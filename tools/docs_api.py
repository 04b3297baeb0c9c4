"""The public Python names as a page: signatures and docstrings, taken from the code itself."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from docs_tables import cell_code, cell_text

import outlive

_GROUPS = (
    ("Verbs", lambda thing: inspect.isfunction(thing) or inspect.ismethod(thing)),
    ("Errors", lambda thing: inspect.isclass(thing) and issubclass(thing, BaseException)),
    ("Things to hold", inspect.isclass),
)  # fmt: skip
_HIDDEN = ("__version__",)
# Parameters of the constructor that only our own code gives.
_PRIVATE = re.compile(r"^_")


def api_page() -> str:
    """The reference of everything in `outlive.__all__`."""
    lines = [
        "# Python",
        "",
        "Everything that `import outlive` gives, made from the code. Importing it is quick and loads no",
        "native runtime: each name is fetched when it is first used.",
    ]
    left = [name for name in outlive.__all__ if name not in _HIDDEN]
    for title, belongs in _GROUPS:
        named = [name for name in left if belongs(getattr(outlive, name))]
        left = [name for name in left if name not in named]
        lines += ["", f"## {title}"]
        for name in named:
            lines += ["", *_entry(name, getattr(outlive, name))]
    assert not left, f"no group for {left}"
    return "\n".join(lines).rstrip() + "\n"


def _entry(name: str, thing: Any) -> Iterator[str]:
    yield f"### outlive.{name}"
    yield ""
    if inspect.isclass(thing):
        yield from _class_entry(name, thing)
        return
    yield from _code(f"outlive.{name}{signature(thing)}")
    yield from _doc(thing)


def _class_entry(name: str, thing: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in thing.__bases__ if base is not object)
    if issubclass(thing, enum.Enum):
        yield from _code(f"class outlive.{name}")
    elif issubclass(thing, BaseException):
        yield from _code(f"class outlive.{name}({bases})")
    else:
        yield from _code(f"class outlive.{name}{signature(thing)}")
    yield from _doc(thing)
    if issubclass(thing, enum.Enum):
        yield "Members: " + ", ".join(f"`{member.name}`" for member in thing) + "."
        return
    members = list(_members(thing))
    if members:
        yield "| | |"
        yield "|---|---|"
        yield from (f"| {cell_code(shown)} | {cell_text(said)} |" for shown, said in members)


def _members(thing: type) -> Iterator[tuple[str, str]]:
    """Fields, properties and methods that are public and have something to say."""
    if dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            if not field.name.startswith("_"):
                yield f".{field.name}", f"{field.type}"
    for name in _own_names(thing):
        member = inspect.getattr_static(thing, name)
        if isinstance(member, property):
            yield f".{name}", _first(member.fget)
        elif isinstance(member, (classmethod, staticmethod)):
            yield f".{name}{signature(getattr(thing, name))}", _first(member.__func__)
        elif inspect.isfunction(member):
            yield f".{name}{signature(member, skip_first=True)}", _first(member)


def _own_names(thing: type) -> list[str]:
    """Public names of a class and of its bases that are ours, in the order they are written."""
    ours = [base for base in reversed(thing.__mro__) if base.__module__.startswith("outlive")]
    fields = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
    names = dict.fromkeys(name for base in ours for name in vars(base))
    return [name for name in names if not name.startswith("_") and name not in fields]


def signature(function: Callable[..., Any], *, skip_first: bool = False) -> str:
    """The call as it is written, without private parameters."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    parameters = list(found.parameters.values())[1 if skip_first else 0 :]
    words: list[str] = []
    keyword_only = False
    for parameter in parameters:
        if _PRIVATE.match(parameter.name):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            words.append("*")
        keyword_only = keyword_only or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        words.append(_parameter(parameter))
    returned = found.return_annotation
    arrow = (
        "" if returned is inspect.Signature.empty or inspect.isclass(function) else f" -> {_type(returned)}"
    )
    return f"({', '.join(words)}){arrow}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars: dict[Any, str] = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    star = stars.get(parameter.kind, "")
    word = f"{star}{parameter.name}"
    typed = parameter.annotation is not parameter.empty
    if typed:
        word += f": {_type(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        word += (" = " if typed else "=") + _default(parameter.default)
    return word


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _default(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    return "..." if callable(value) or " at 0x" in repr(value) or repr(value).startswith("<") else repr(value)


def _code(line: str) -> Iterator[str]:
    yield "```text"
    yield _wrap(line)
    yield "```"
    yield ""


def _wrap(line: str) -> str:
    """A long call on several lines, one parameter each."""
    if len(line) <= 100 or "(" not in line:
        return line
    head, _, rest = line.partition("(")
    inside, _, tail = rest.rpartition(")")
    return f"{head}(\n    " + ",\n    ".join(_split(inside)) + f",\n){tail}"


def _split(text: str) -> Iterator[str]:
    """Parts between the commas that are in no brackets."""
    depth, start = 0, 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and not depth:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _doc(thing: Any) -> Iterator[str]:
    said = inspect.getdoc(thing) or ""
    for paragraph in said.split("\n\n"):
        lines = paragraph.splitlines()
        if any(line.startswith("    ") for line in lines):
            yield from ("```text", *lines, "```", "")
        else:
            yield from (*lines, "")


def _first(function: Any) -> str:
    said = inspect.getdoc(function) or ""
    return " ".join(said.split("\n\n")[0].split())
