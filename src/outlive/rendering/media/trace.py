"""A result on a line of time, for Perfetto and chrome://tracing."""

from __future__ import annotations

from typing import Any

from outlive.rendering.media.json import dump


def render(result: Any) -> str:
    """The events of a result, by its kind."""
    if result.kind == "plan":
        from outlive.rendering.media.trace_plan import plan_trace

        return dump(plan_trace(result)) + "\n"
    from outlive.rendering.media.trace_run import run_trace

    return dump(run_trace(result, result.path, result.findings)) + "\n"
