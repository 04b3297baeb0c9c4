"""What a rule is: its code, its text, the facts it needs and the generator that sees the fault."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from outlive.finding import Severity, Sighting
from outlive.records import NOT_WRITTEN, written

Sightings = Iterator[Sighting]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that can be wrong, with the function that sees it and the page that explains it."""

    code: str
    name: str
    severity: Severity
    since: str
    summary: str = field(metadata=written("headline"))
    facts: tuple[str, ...]
    doc: str = field(metadata=written("page"))
    function: Callable[..., Sightings] = field(metadata=NOT_WRITTEN)
    cause: str = field(default="", metadata=NOT_WRITTEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleList:
    """Rules with their pages."""

    kind: ClassVar[str] = "explain"

    rules: tuple[Rule, ...]


def rule(
    code: str, name: str, severity: Severity, since: str, cause: str = ""
) -> Callable[[Callable[..., Sightings]], Rule]:
    """Make a rule of a generator of sightings; the docstring of the calling module is its headline and page.

    `cause` is the word for what it finds in the taxonomy of causes that `diagnose` uses; empty if it is none.
    """
    # A declared rule has a generator that another module made: only the caller knows whose text is meant.
    text = sys._getframe(1).f_globals["__doc__"]

    def make(function: Callable[..., Sightings]) -> Rule:
        doc = inspect.cleandoc(text or name.replace("-", " "))
        return Rule(
            code=code,
            name=name,
            severity=severity,
            since=since,
            summary=doc.splitlines()[0],
            doc=doc,
            facts=tuple(inspect.signature(function).parameters),
            function=function,
            cause=cause,
        )

    return make
