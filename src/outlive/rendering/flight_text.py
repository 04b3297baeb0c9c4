"""A run for people: stages with time and memory, a small timeline, the outputs, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.finding import Finding
from outlive.meter import Point
from outlive.names import safe
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.model_text import grid, heading
from outlive.units import format_bytes, format_shape
from outlive.worker.flight import Flight

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDTH = 64
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_MAX_STAGES = 12


def flight_text(flight: Flight, path: str, findings: Sequence[Finding]) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    from rich.text import Text

    ending, style = _ending(flight)
    yield Text.assemble((safe(path, 160), "bold"), "  ", (ending, style))
    yield from _stages(flight)
    yield from _timeline(flight.timeline)
    yield from _outputs(flight)
    if findings:
        yield heading("what happened")
        yield from (rich_finding(finding) for finding in findings)


def _ending(flight: Flight) -> tuple[str, str]:
    if flight.died:
        how = flight.signal or (f"exit code {flight.exit_code}" if flight.exit_code is not None else "unseen")
        return f"died: {flight.ended_by or how}; this program goes on", "bold red"
    if flight.error_type:
        return f"refused by the runtime: {flight.error_type}", "bold red"
    return "ran", "bold green"


def _stages(flight: Flight) -> Iterator[RenderableType]:
    yield heading("stages", "memory is private memory above the worker's baseline")
    marks = {point.mark: point for point in flight.timeline if point.mark}
    table = grid("left", "right", "right")
    shown = flight.stages[:_MAX_STAGES]
    for stage, seconds in shown:
        point = marks.get(stage)
        table.add_row("", stage, f"{seconds * 1000:,.2f} ms", format_bytes(point.bytes) if point else "")
    if len(flight.stages) > len(shown):
        table.add_row("", f"and {len(flight.stages) - len(shown)} more", "", "")
    if flight.peak_bytes is not None:
        table.add_row("", "peak", "", format_bytes(flight.peak_bytes))
    on_gpu = [point.gpu_bytes for point in flight.timeline if point.gpu_bytes is not None]
    if on_gpu:
        table.add_row("", "peak on the GPU", "", format_bytes(max(on_gpu)))
    yield table


def _timeline(points: Sequence[Point]) -> Iterator[RenderableType]:
    """Memory over time as one line of bars, with its scale."""
    from rich.text import Text

    if len(points) < 3:
        return
    yield heading("memory over time")
    yield Text(f"  {_curve(points)}")


def memory_line(flight: Flight) -> RenderableType:
    """The peak and the curve in one line."""
    from rich.text import Text

    points = flight.timeline
    words = _curve(points) if len(points) > 2 else f"{format_bytes(flight.peak_bytes or 0)} at most"
    return Text.assemble(("memory", "bold"), f"  {words}, above what it began with")


def _curve(points: Sequence[Point]) -> str:
    end, peak = points[-1].seconds or 1.0, max(point.bytes for point in points)
    columns = [0] * _WIDTH
    for point in points:
        place = min(_WIDTH - 1, int(point.seconds / end * _WIDTH))
        columns[place] = max(columns[place], point.bytes)
    for place in range(1, _WIDTH):
        columns[place] = columns[place] or columns[place - 1]
    bars = "".join(_EIGHTHS[min(8, round(8 * value / max(1, peak)))] for value in columns)
    return f"{bars}  {format_bytes(peak)} at most, {end * 1000:,.0f} ms"


def _outputs(flight: Flight) -> Iterator[RenderableType]:
    if not flight.outputs:
        return
    yield heading("outputs")
    table = grid("left", "left", "left", "dim")
    for output in flight.outputs:
        span = "" if output.minimum is None else f"from {output.minimum:.6g} to {output.maximum:.6g}"
        table.add_row("", safe(output.name, 48), format_shape(output.shape), output.dtype, span)
    yield table
