"""What one look at this machine found: a `Check`, and the state it is in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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
