"""What grows, for people: the verdict, a small curve, each quantity's rate, and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.growth.growth import LEAKS, NO_LEAK, Growth, Round, Stage
from outlive.growth.growth_trend import WARM_UP_SHARE, Trend
from outlive.growth.growth_verdict import tell_end
from outlive.names import safe
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.model_text import grid, heading
from outlive.units import format_bytes

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLE = {LEAKS: "bold red", NO_LEAK: "bold green"}
_WIDTH = 60
_LEAST_SPAN = 1 << 18
_EIGHTHS = "▁▂▃▄▅▆▇█"
_WORDS = {
    "held_bytes": "memory in RAM",
    "heap_bytes": "native heap",
    "mapped_bytes": "mapped memory",
    "objects": "Python objects",
    "descriptors": "descriptors",
    "threads": "threads",
}
_MEANING = {"grows": "grows", "flat": "does not grow", "unclear": "not clear"}


def leak_text(growth: Growth) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    from rich.text import Text

    yield Text.assemble((safe(growth.what, 160), "bold"), "  ", (growth.verdict, _style(growth.verdict)))
    for stage in growth.stages:
        yield from _stage(stage, len(growth.stages) > 1)
    if growth.findings:
        yield heading("what was found")
        yield from (rich_finding(finding) for finding in growth.findings)


def _style(verdict: str) -> str:
    return _STYLE.get(verdict, "bold yellow")


def _stage(stage: Stage, named: bool) -> Iterator[RenderableType]:
    from rich.text import Text

    if named:
        yield heading(f"cycle {stage.cycle}")
    said = safe(str(stage) if stage.rounds else f"not measured: {stage.problem}", 300)
    yield Text.assemble("  ", (said, _style(stage.verdict) if stage.rounds else "yellow"))
    if not stage.rounds:
        return
    if stage.problem and stage.problem not in said:
        yield Text(f"  it ended early: {safe(stage.problem, 300)}", style="yellow")
    if stage.reason and stage.reason not in said:
        yield Text(f"  {safe(stage.reason, 300)}", style="yellow")
    yield from _curve(stage.rounds, stage.leading)
    if stage.trends:
        yield _rates(stage)
    for end in stage.ends:
        yield Text(f"  {tell_end(end)}")


def _curve(rounds: Sequence[Round], name: str) -> Iterator[RenderableType]:
    """The leading quantity over the rounds, above its lowest; what lies before the mark is warm-up."""
    from rich.text import Text

    values = [(row.calls, getattr(row, name)) for row in rounds]
    if len(values) < 3 or any(value is None for _, value in values):
        return
    columns = thin_columns(values, _WIDTH)
    lowest, highest = min(columns), max(columns)
    # What goes up and down by a few pages is to look flat.
    scale = 7 / max(_LEAST_SPAN, highest - lowest)
    bars = "".join(_EIGHTHS[round((value - lowest) * scale)] for value in columns)
    warm = round(_WIDTH * WARM_UP_SHARE)
    yield Text.assemble(
        "  ",
        (bars[:warm], "dim"),
        bars[warm:],
        f"  {_WORDS[name]}, {format_bytes(lowest)} to {format_bytes(highest)}; the first third is warm-up",
    )


def thin_columns(values: Sequence[tuple[int, int]], width: int) -> list[int]:
    """The last value in each of `width` equal parts of the rounds."""
    last = max(1, values[-1][0])
    columns: list[int | None] = [None] * width
    for calls, value in values:
        columns[min(width - 1, calls * width // last)] = value
    filled, latest = [], values[0][1]
    for found in columns:
        latest = latest if found is None else found
        filled.append(latest)
    return filled


def _rates(stage: Stage) -> RenderableType:
    table = grid("left", "right", "left", "left")
    for name, trend in stage.trends.items():
        table.add_row(
            "", _WORDS[name], _per_round(name, trend), _interval(name, trend), _MEANING[trend.verdict]
        )
    return table


def _amount(name: str, value: float) -> str:
    return format_bytes(round(value)) if name.endswith("_bytes") else f"{value:.3g}"


def _per_round(name: str, trend: Trend) -> str:
    return f"{_amount(name, trend.per_round)} per round"


def _interval(name: str, trend: Trend) -> str:
    return f"{_amount(name, trend.low)} to {_amount(name, trend.high)}"
