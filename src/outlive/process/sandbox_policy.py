"""Which workers run in a sandbox of the operating system, what they may read there, and why others do not.

`child/sandbox.py` is the sandbox itself. "auto" has it for LiteRT on CPUs, as far as the system has it; "on"
insists on all of it; "off" does without.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from outlive.process.worker_factory import WorkerKind

MODES = ("auto", "on", "off")
VARIABLE = "OUTLIVE_SANDBOX"


def choose_mode(given: str | None) -> str:
    """The mode that was given, or the environment's, or "auto"; ValueError for another word."""
    mode = given or os.environ.get(VARIABLE) or "auto"
    if mode not in MODES:
        source = "sandbox" if given else VARIABLE
        raise ValueError(f"{source} is 'auto', 'on' or 'off', not {mode!r}")
    return mode


def make_settings(
    mode: str,
    kind: WorkerKind,
    model_path: str | None,
    delegates: Sequence[tuple[str, Any]],
    custom_ops: Sequence[str] | None,
    compiled: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The settings for a worker: the files that it may read, or why it has no sandbox."""
    compiled = compiled or {}
    reason = "it was switched off" if mode == "off" else ""
    if mode == "auto":
        reason = _needs_more(kind, delegates, custom_ops, compiled)
    if reason:
        return {"off": reason}
    libraries = (*(library for library, _ in delegates), *compiled.get("libraries", ()))
    return {"read": [path for path in (model_path, *libraries) if path]}


def is_whole(applied: dict[str, Any]) -> bool:
    """True if a worker said that it is under all parts of the sandbox."""
    sandbox = applied.get("sandbox", {})
    return bool(sandbox.get("parts")) and not sandbox.get("why")


def _needs_more(
    kind: WorkerKind, delegates: Sequence[Any], custom_ops: Sequence[str] | None, compiled: Mapping[str, Any]
) -> str:
    """Why a worker needs more than the sandbox allows; empty for LiteRT on the CPU."""
    beyond = [name for name in compiled.get("accelerators", ()) if name != "CPU"]
    options = compiled.get("options", {}).get("cpu_options", {})
    reasons = {
        "a delegate library may need devices and files of its own": delegates,
        "custom operators may need files of their own": custom_ops,
        f"{' and '.join(beyond)} may need devices and drivers": beyond,
        "a weight cache is written to a file": options.get("xnnpack_weight_cache_path"),
        f"what {kind.runtime} needs is not known": kind.runtime != "litert",
        "what another Python needs is not known": kind.python != sys.executable,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")
