"""What a look at this machine found: one `Check` for each thing, and the `Environment` they make up."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from outlive.cache import Usage
from outlive.finding import Finding
from outlive.records import in_document
from outlive.results import Listed


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
    needed: bool = False
    found: str
    meaning: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Environment(Listed[Check]):
    """What this machine offers, what is wrong with it, and what outlive keeps on it between runs.

    `removed` is what was cleaned away first, if that was asked for.
    """

    kind: ClassVar[str] = "doctor"
    tables = (("checks", Check),)

    checks: tuple[Check, ...]
    caches: tuple[Usage, ...] = ()
    most_cache_bytes: int = 0
    most_cache_days: int = 0
    removed: tuple[Usage, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    @in_document()
    def ready(self) -> bool:
        """Whether models can be run: nothing that is needed is missing."""
        return not any(check.needed and check.state is State.MISSING for check in self.checks)

    @property
    def outcome(self) -> str:
        """What it comes to, in one word: clean or errors."""
        return "clean" if self.ready else "errors"

    def _summary(self) -> tuple[str, str]:
        """Whether models can be run, and how much is there."""
        counts = (f"{sum(check.state is state for check in self.checks)} {state.value}" for state in State)
        return "ready" if self.ready else "not ready", ", ".join(counts)
