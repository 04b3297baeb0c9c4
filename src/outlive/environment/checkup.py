"""What one look at this machine found: a `Check`, and the state it is in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from outlive.cache import Usage
from outlive.finding import Finding


class State(str, Enum):
    """Whether a thing is there: ok, limited (there, or replaced, but with less to offer), missing."""

    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that outlive can use: its state, what was found, what that means, the command that fixes it.

    Only what is `needed` stops outlive from running models; it does without the rest.
    """

    group: str
    name: str
    state: State
    found: str
    meaning: str
    remedy: str = ""
    needed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """Whether models can be run here, every check, what is wrong, and what is kept between runs."""

    kind: ClassVar[str] = "doctor"

    ready: bool
    checks: tuple[Check, ...]
    caches: tuple[Usage, ...] = ()
    most_cache_bytes: int = 0
    most_cache_days: int = 0
    removed: tuple[Usage, ...] = ()
    findings: tuple[Finding, ...] = ()
