"""What the tool has to say about a model: a `Finding`, and the words it is made of."""

import shlex
from dataclasses import KW_ONLY, dataclass
from enum import Enum

from outlive.names import safe
from outlive.results import Result


class Severity(str, Enum):
    """How bad it is: an error breaks or endangers a run, a warning may, a note is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Tag(str, Enum):
    """What following a remedy changes for the user."""

    SAME_RESULTS = "same-results"
    CHANGES_RESULTS = "changes-results"
    CHANGES_MODEL = "changes-model"


class Fault(str, Enum):
    """Whose fault it is."""

    FILE = "file"
    INPUT = "input"
    RUNTIME = "runtime"
    MACHINE = "machine"
    OUTLIVE = "outlive"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact that supports a finding, and where it was seen."""

    fact: str
    source: str


@dataclass(frozen=True, slots=True)
class Remedy:
    """One thing to do about a finding: the action, its computed effect, a command to paste."""

    action: str
    tag: Tag
    _: KW_ONLY
    effect: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpPlace:
    """An operator of a model: which subgraph, which of its operators, of what type."""

    subgraph: int
    index: int
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What a rule saw. It refuses to exist without evidence; the engine signs it with code and severity.

    `op` is the operator it is about, where it is about one; `cause` a word of the taxonomy of causes, where
    it is another than the rule's own; `value` what is at fault, such as `radius = -16`: the rule's headline
    ends with it; `headline` replaces the rule's headline.
    """

    where: str
    evidence: tuple[Evidence, ...]
    why: str = ""
    remedies: tuple[Remedy, ...] = ()
    confidence: str = "certain"
    fault: Fault = Fault.FILE
    op: OpPlace | None = None
    cause: str = ""
    headline: str = ""
    value: str = ""

    def __post_init__(self) -> None:
        """Reject a claim that nothing supports."""
        if not self.evidence:
            raise ValueError("a sighting needs at least one piece of evidence")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Finding(Result):
    """A signed sighting: what is wrong, where, how we know, what to do."""

    tables = (("evidence", Evidence), ("remedies", Remedy))

    code: str
    name: str
    severity: Severity
    headline: str
    where: str
    why: str
    evidence: tuple[Evidence, ...]
    remedies: tuple[Remedy, ...]
    confidence: str
    fault: Fault
    op: OpPlace | None = None
    cause: str = ""

    def _summary(self) -> tuple[str, str]:
        """Its code and its headline."""
        return f"{self.severity.value}[{self.code}]", self.headline

    def __str__(self) -> str:
        """The finding in one line; names in it are a stranger's, and escaped."""
        place = f" ({self.where})" if self.where else ""
        return safe(f"{self.severity.value}[{self.code}]: {self.headline}{place}")


def shell_path(path: str) -> str:
    """A path as a word to paste into a shell: quoted, and never taken for an option."""
    return shlex.quote(as_argument(path))


def as_argument(path: str) -> str:
    """A path as an argument of a command: one that begins with a dash gets `./` in front."""
    return f"./{path}" if path.startswith("-") else path
