"""Coverage of what a worker runs: measured there as it is here, and added to what is measured here."""

import contextlib
import sys
from typing import Any

# The settings that decide what is measured, by the names coverage gives them.
_SETTINGS = tuple(
    f"run:{name}"
    for name in (
        "branch", "concurrency", "core", "cover_pylib", "include", "omit", "plugins", "relative_files",
        "source", "source_pkgs", "timid",
    )
)  # fmt: skip


def describe_coverage(with_contexts: bool) -> dict[str, Any] | None:
    """How this process is measured, for a worker to do the same; None if it is not."""
    running = _running()
    if running is None:
        return None
    settings = {}
    for name in _SETTINGS:
        with contextlib.suppress(Exception):  # a name that this version does not have
            settings[name] = running.get_option(name)
    settings = {name: value for name, value in settings.items() if value is not None}
    file = getattr(running.config, "config_file", None)
    return {"settings": settings, "file": file or False, "contexts": with_contexts}


def add_coverage(data: bytes) -> None:
    """Add what a worker measured to what is measured here."""
    running = _running()
    if running is None:
        return
    from coverage import CoverageData

    measured = CoverageData(no_disk=True)
    measured.loads(data)
    running.get_data().update(measured)


def _running() -> Any:
    """The measurement that is going on in this process."""
    if "coverage" not in sys.modules:
        return None
    from coverage import Coverage

    return Coverage.current()


class WorkerCoverage:
    """A worker's own measurement; none, if its session is not measured."""

    def __init__(self, described: dict[str, Any] | None) -> None:
        """Begin."""
        self._coverage: Any = None
        self._contexts = bool(described and described["contexts"])
        if described is None or _running() is not None:
            return  # coverage may measure subprocesses by itself
        from coverage import Coverage

        self._coverage = Coverage(data_file=None, config_file=described["file"])
        for name, value in described["settings"].items():
            self._coverage.set_option(name, value)
        self._coverage.start()

    def name(self, context: str) -> None:
        """What runs from now on belongs to this test and phase."""
        if self._coverage is not None and self._contexts:
            self._coverage.switch_context(context)

    def take(self) -> bytes:
        """What was measured since the last time."""
        if self._coverage is None:
            return b""
        self._coverage.stop()
        data = self._coverage.get_data()
        measured: bytes = data.dumps() if data.measured_files() else b""
        self._coverage.erase()
        self._coverage.start()
        return measured
