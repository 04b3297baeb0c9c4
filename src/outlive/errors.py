"""Everything outlive raises on purpose carries a finding that says what happened and what to do."""

import errno
from typing import Any

from outlive.finding import Finding
from outlive.names import safe_lines


class OutliveError(Exception):
    """A failure that was understood; `.finding` says what, where and what to do."""

    def __init__(self, finding: Finding, message: str = "", others: tuple[Finding, ...] = ()) -> None:
        """Keep the finding; `message` is its drawn form, `others` what else was found on the way.

        A runtime's words are in it, and in them names from a file: what is no plain text is escaped.
        """
        super().__init__(safe_lines(message) or str(finding))
        self.finding = finding
        self.findings = (finding, *others)


class ModelError(OutliveError, ValueError):
    """The file is not a model that can be trusted. Also a ValueError, which is what LiteRT raises."""


class InputError(OutliveError, ValueError):
    """An input that does not fit the model. Also a ValueError, which is what LiteRT raises.

    `.flight` is the record of the run, where it was the runtime that said so.
    """

    flight: Any = None


class RunError(OutliveError, RuntimeError):
    """The runtime refused to go on, in its own words, and lives. A RuntimeError too, as LiteRT raises."""

    def __init__(
        self, finding: Finding, message: str = "", others: tuple[Finding, ...] = (), flight: Any = None
    ) -> None:
        """Keep the record of the run beside the finding."""
        super().__init__(finding, message, others)
        self.flight = flight


class ModelDied(RunError):
    """The model took its process with it; `.flight` is all that was seen. Also a RuntimeError."""


class LimitReached(RunError):
    """The model reached a limit of memory or time and was ended. Also a RuntimeError."""


class WorkerUnavailable(RunError, OSError):
    """The system refuses a process to run the model in, or what that process needs. Also an OSError."""


class RuntimeMissing(OutliveError, ImportError):
    """The runtime that should run the model is not installed. Also an ImportError."""


class InternalError(Exception):
    """A bug of outlive itself: never the model's or the user's fault."""

    def __str__(self) -> str:
        """What went wrong; names in it are escaped."""
        return safe_lines(super().__str__())


# What a system answers that has nothing left to give, or a broken disk: no bug of ours.
_SHORTAGES = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
    errno.ENOBUFS, errno.EAGAIN,
)  # fmt: skip


def shortage(error: BaseException) -> str:
    """What the system refuses, in words; empty for an error that says anything else."""
    if isinstance(error, MemoryError):
        return "not enough memory"
    if not isinstance(error, OSError) or error.errno not in _SHORTAGES:
        return ""
    about = f": {error.filename}" if error.filename else ""
    return f"the system refused: {error.strerror}{about}"


class SilentFailure(UserWarning):
    """A run that came back and did not do what was asked for; `.finding` says what and what to do."""

    def __init__(self, finding: Finding) -> None:
        """Keep the finding; its text is a line, with the first thing to do about it."""
        advice = [remedy.command or remedy.action for remedy in finding.remedies[:1]]
        super().__init__("; ".join((str(finding), safe_lines(finding.why), *map(safe_lines, advice))))
        self.finding = finding
