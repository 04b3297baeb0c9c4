"""What one file came to: a row of the table, as plain data that goes to JSON and comes back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

SCHEMA = "outlive/1"
KIND = "scan-row"

# How it ended, the best first. "sound" and "flawed" were not run: nothing is an error, or something is.
# "too large" was not run because it would not have fitted; "lost" took the process that looked at it along,
# and "failed" is a bug of ours.
Outcome = Literal[
    "ran", "sound", "flawed", "broken", "unreadable", "too large", "refused", "hung", "died", "lost", "failed"
]
OUTCOMES: tuple[Outcome, ...] = (
    "ran", "sound", "flawed", "broken", "unreadable", "too large", "refused", "hung", "died", "lost",
    "failed",
)  # fmt: skip
# Those that say more about the moment than about the file.
PASSING: frozenset[str] = frozenset({"unreadable", "too large", "hung", "lost", "failed"})
# Deaths of the moment: what memory there was to be had then, and who was killed from outside.
_PASSING_CAUSE = "out-of-memory"
_PASSING_CODES = frozenset({"D501", "D502", "D508"})
# What is counted fits 64 bits; a larger number is none of ours.
_MOST = 2**63

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSeen:
    """A finding in a line."""

    code: str
    name: str
    severity: str
    headline: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFit:
    """Whether it fits a device: fits, tight, may not fit, does not fit, refused, or "not planned"."""

    device: str
    word: str
    needed_bytes: int | None = None
    margin_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSeen:
    """An output on the usual seeded inputs: its digest, and a few of its numbers to compare roughly."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    sha256: str
    minimum: float | None = None
    maximum: float | None = None
    samples: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeen:
    """What a run took: the median call after the first, the first, and the most private memory it added."""

    milliseconds: float | None
    first_milliseconds: float | None
    peak_bytes: int | None
    outputs: tuple[OutputSeen, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeathSeen:
    """How it died, hung or was refused, as the diagnosis has it."""

    cause: str
    code: str
    headline: str
    stage: str
    signal: str | None = None
    op: str = ""
    works_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorSeen:
    """What an accelerator took of it, and did."""

    name: str
    outcome: str
    ops_taken: int | None = None
    ops_total: int = 0
    milliseconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one file came to. Numbers that nobody found out are None; `note` says why in words.

    `name` is the path below the folder that was asked for, `same_as` an identical file that was looked at in
    its place, `codes` how often each rule spoke; `findings` holds the first of them.
    """

    path: str
    name: str
    outcome: Outcome
    sha256: str = ""
    file_bytes: int = 0
    mtime_ns: int = 0
    order_key: str = ""
    same_as: str | None = None
    from_cache: bool = False
    changed: bool = False
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    codes: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[FindingSeen, ...] = ()
    operators: int | None = None
    peak_bytes: int | None = None
    total_bytes: int | None = None
    arena_bytes: int | None = None
    exact: bool | None = None
    bound: str | None = None  # of the peak: upper, lower, estimate
    devices: tuple[DeviceFit, ...] = ()
    run: RunSeen | None = None
    death: DeathSeen | None = None
    accelerators: tuple[AcceleratorSeen, ...] = ()
    note: str = ""
    seconds: float = 0.0
    host: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    number: int = -1  # the task it answers; not written

    @property
    def died(self) -> bool:
        """True if running it ended its process, or had to be ended."""
        return self.outcome in ("died", "hung")

    @property
    def passing(self) -> bool:
        """True if it says more about the moment than about the file: it is neither kept nor resumed."""
        death = self.death
        starved = death is not None and (death.cause == _PASSING_CAUSE or death.code in _PASSING_CODES)
        return self.outcome in PASSING or self.changed or starved

    @property
    def fits(self) -> bool:
        """True unless a device that was asked about is too small for it, or may be."""
        return not any(item.word in ("may not fit", "does not fit", "refused") for item in self.devices)

    def line(self) -> bytes:
        """The row as a line of JSON."""
        return json.dumps(self.as_json(), separators=(",", ":")).encode("ascii") + b"\n"

    def as_json(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return {"schema": SCHEMA, "kind": KIND, **_plain(self)}


def read_row(line: bytes) -> Row:
    """The row of a line; ValueError for anything that is none."""
    try:
        return row_of(json.loads(line))
    except RecursionError as error:
        raise ValueError(f"it is no row of a scan: {error!r:.200}") from error


def row_of(note: Any) -> Row:
    """The row of what JSON had; ValueError for anything that is none."""
    body = note
    try:
        if not isinstance(body, dict) or (body.get("schema"), body.get("kind")) != (SCHEMA, KIND):
            raise ValueError("it is no row of a scan")
        if not isinstance(body["path"], str) or body["outcome"] not in OUTCOMES:
            raise ValueError("it is no row of a scan")
        run = body.get("run")
        body = body | {
            "findings": _parts(FindingSeen, body.get("findings")),
            "devices": _parts(DeviceFit, body.get("devices")),
            "accelerators": _parts(AcceleratorSeen, body.get("accelerators")),
            "death": None if body.get("death") is None else _death(body["death"]),
            "codes": _counts(body.get("codes", {}), int),
            "versions": _counts(body.get("versions", {}), str),
            "run": None if run is None else _part(RunSeen, {**run, "outputs": _outputs(run["outputs"])}),
        }
        return _part(Row, body)
    except (KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"it is no row of a scan: {error!r:.200}") from error


def _plain(value: Any) -> Any:
    """Dataclasses and tuples as JSON has them; numbers that JSON does not have as their names."""
    if hasattr(value, "__dataclass_fields__"):
        names = (item.name for item in fields(value) if item.name != "number")
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return dict(value) if isinstance(value, Mapping) else value


def _part(kind: type[Part], body: Mapping[str, Any]) -> Part:
    """A part from its fields, each of its kind; those of a later version are left out."""
    kinds = _kinds(kind)  # type: ignore[arg-type]
    known = {name: value for name, value in body.items() if name in kinds}
    for name, value in known.items():
        if not isinstance(value, kinds[name]) or (isinstance(value, int) and abs(value) >= _MOST):
            raise TypeError(f"{name} is {value!r:.60}")
    return kind(**known)


@cache
def _kinds(kind: type) -> dict[str, tuple[type, ...]]:
    """What the fields of a part may be."""
    return {name: _allowed(hint) for name, hint in get_type_hints(kind).items()}


def _allowed(hint: Any) -> tuple[type, ...]:
    found = get_origin(hint) or hint
    if found in (Union, UnionType):
        return tuple(one for part in get_args(hint) for one in _allowed(part))
    if found is Literal:
        return (str,)
    return (int, float) if found is float else (found,)


def _counts(found: Any, kind: type) -> dict[str, Any]:
    """A table of counts, or of words."""
    if not all(isinstance(value, kind) for value in found.values()):
        raise TypeError(f"it holds {found!r:.60}")
    return dict(found)


def _parts(kind: type[Part], bodies: Any) -> tuple[Part, ...]:
    return tuple(_part(kind, body) for body in bodies or ())


def _death(body: Mapping[str, Any]) -> DeathSeen:
    return _part(DeathSeen, {**body, "works_with": tuple(map(str, body.get("works_with") or ()))})


def _outputs(bodies: Any) -> tuple[OutputSeen, ...]:
    return tuple(
        _part(
            OutputSeen,
            {
                **body,
                "shape": tuple(map(int, body["shape"])),
                "minimum": _number(body.get("minimum")),
                "maximum": _number(body.get("maximum")),
                "samples": tuple(float(item) for item in body.get("samples") or ()),
            },
        )
        for body in bodies or ()
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
