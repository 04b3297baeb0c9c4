"""A plan for people: verdict, parts, the worst moment, live bytes by operator, what is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outlive.arena.accuracy import said_of
from outlive.arena.budget import Verdict, needed_bytes, worst_moment
from outlive.arena.plan import OpLoad, Part, Placement, Plan, is_exact
from outlive.finding import Finding
from outlive.names import safe
from outlive.rendering.finding_text import count_findings, rich_finding
from outlive.rendering.model_text import grid, heading
from outlive.units import format_bytes, format_shape, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAME = 40
_TEXT = 160
_BAR = 24
_ROWS = 24
_SUMS = ("arena used", "smallest arena", "peak", "both")
_UNSHARED = 6
_INPUTS = 4
_STYLE = {
    "fits": "bold green",
    "tight": "bold yellow",
    "may not fit": "bold yellow",
    "does not fit": "bold red",
    "refused": "bold red",
}
_CERTAINTY = {
    "at most": "an upper bound",
    "at least": "a lower bound: memory whose size is not known comes on top",
    "about": "an estimate",
}
_KERNELS = {
    "cpu": "XNNPACK, LiteRT's default on CPUs",
    "builtin": "LiteRT's builtin kernels",
    "reference": "LiteRT's reference kernels",
    "tflm": "TensorFlow Lite Micro",
}


def plan_text(plan: Plan, verdict: Verdict | None, findings: Sequence[Finding]) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    yield from headline(plan, verdict)
    if not plan.refusals:
        yield from _memory(plan)
        yield from _worst(plan)
        yield from _timeline(plan)
        yield from _unshared(plan)
    yield from _measured(plan)
    if plan.accelerator != "tflm":  # there a finding says it
        yield from _lines("refused", tuple(f"op {one.op} {one.type}: {one.reason}" for one in plan.refusals))
    yield from _lines("not known", plan.unknown)
    yield from _lines("assumed", plan.assumed)
    yield from findings_text(findings)


def headline(plan: Plan, verdict: Verdict | None) -> Iterator[RenderableType]:
    """What it needs, and whether it fits; then with what it is run."""
    from rich.text import Text

    name = safe(plan.path, _TEXT) if plan.path else "model given as bytes"
    needed = needed_bytes(plan)
    if needed is None:
        said = ("refused: it does not run on this runtime", "bold red")
    elif verdict is None:
        said = (f"needs {amount(plan, needed)}", "bold")
    else:
        said = (verdict.word, _STYLE[verdict.word])
    yield Text.assemble((name, "bold"), "  ", said)
    if verdict is not None and needed is not None:
        yield Text(f"needs {amount(plan, needed)}; {_room(verdict)}")
        for reason in verdict.reasons:
            yield Text(f"  {reason}")
    ends = ", ".join(
        f"{safe(name, _NAME)} {format_shape(shape)} {dtype}" for name, shape, dtype in plan.inputs[:_INPUTS]
    )
    more = f" and {len(plan.inputs) - _INPUTS} more" if len(plan.inputs) > _INPUTS else ""
    kernels = _KERNELS.get(plan.accelerator, plan.accelerator)
    yield Text(f"{kernels}; {ends or 'no inputs'}{more}", style="dim")


def amount(plan: Plan, size: int | None) -> str:
    """A sum of a plan's parts: to the byte where that is known, else `at most`, `at least` or `about`."""
    if size is None:
        return "not known"
    return f"{size:,} bytes" if is_exact(plan) else f"{said_of(plan.bound, size)} {format_bytes(size)}"


def findings_text(findings: Sequence[Finding]) -> Iterator[RenderableType]:
    """The findings under their heading."""
    if findings:
        yield heading("findings", count_findings(findings))
        yield from (rich_finding(finding) for finding in findings)


def _room(verdict: Verdict) -> str:
    budget = verdict.budget
    said = f"{safe(budget.title, _TEXT)} has {format_bytes(budget.ram_bytes)}"
    if verdict.margin_bytes is not None:
        share = abs(verdict.margin_bytes) / max(1, budget.ram_bytes)
        size = format_bytes(abs(verdict.margin_bytes))
        said += f", {size} ({share:.0%}) " + ("to spare" if verdict.margin_bytes >= 0 else "too little")
    if budget.free_bytes is not None:
        said += f"; free just now: {format_bytes(budget.free_bytes)}"
    if verdict.flash_margin_bytes is not None and budget.flash_bytes is not None:
        said += f"; file {format_bytes(verdict.plan.file_bytes)} of {format_bytes(budget.flash_bytes)} flash"
    return f"{said} ({safe(budget.source, _TEXT)})"


def _memory(plan: Plan) -> Iterator[RenderableType]:
    yield heading("memory", certainty(plan))
    table = grid("left", "right", "right", "left", "dim")
    parts = [part for part in plan.parts or _parts(plan) if part.bytes]
    whole = max(1, plan.peak_bytes or 0)
    for part in parts:
        share = f"{part.bytes / whole:.1%}" if part.bytes <= whole else ""
        table.add_row(
            "",
            safe(part.name, _NAME),
            _size(part.bytes, part.exact),
            share,
            _bar(part.bytes, whole, 12),
            safe(part.source, _TEXT),
        )
    for name, size, said in _totals(plan):
        if size is not None:
            exact = "file" in name or (plan.exact and name == "lower bound")
            shown = amount(plan, size) if name in _SUMS else _size(size, exact)
            table.add_row("", name, shown.removesuffix(" bytes"), "", "", said)
    yield table


def certainty(plan: Plan) -> str:
    """What the figures are worth."""
    return (
        "computed by the runtime's own rules"
        if is_exact(plan)
        else _CERTAINTY[said_of(plan.bound, plan.peak_bytes or 0)]
    )


def _totals(plan: Plan) -> Iterator[tuple[str, int | None, str]]:
    if plan.accelerator == "tflm":
        used = None if plan.arena_bytes is None else plan.arena_bytes + (plan.persistent_bytes or 0)
        yield "arena used", used, "head and tail, once the model is allocated"
        yield "smallest arena", plan.min_arena_bytes, "that allocates: planning needs room of its own"
        yield "file", plan.file_bytes, "in flash"
    else:
        yield "peak", plan.peak_bytes, "private memory, from load to the last invoke"
        yield "mapped file", plan.mapped_bytes, "shared; its pages can be dropped and read again"
        yield "both", plan.total_bytes, ""
    yield "lower bound", plan.lower_bound_bytes, "alive at one operator: no planner can do with less"


def _parts(plan: Plan) -> Iterator[Part]:
    """The parts by their sizes, for a planner that does not list them."""
    names = ("arena", "persistent", "packed_weights", "workspace", "dynamic", "runtime")
    for name in names:
        size = getattr(plan, f"{name}_bytes")
        if size:
            yield Part(name=name.replace("_", " "), bytes=size, source="", exact=plan.exact)


def _worst(plan: Plan) -> Iterator[RenderableType]:
    moment = worst_moment(plan)
    if moment is None or not any(load.live_bytes for load in plan.ops):
        return
    load = next(load for load in plan.ops if load.index == moment[0])
    yield heading(
        "worst moment", f"op {load.index} {safe(load.type, _NAME)}: {load.live_bytes:,} bytes alive"
    )
    table = grid("right", "left", "dim")
    for place in moment[1]:
        name = safe(place.name, _NAME) or f"tensor {place.tensor}"
        table.add_row("", f"{place.size_bytes:,}", name, _life(place, len(plan.ops)))
    yield table


def _life(place: Placement, ops: int) -> str:
    first = "the start" if place.first_op < 0 else f"op {place.first_op}"
    last = "the end" if place.last_op >= ops else f"op {place.last_op}"
    return f"from {first} to {last}" if first != last else f"only at {first}"


def _timeline(plan: Plan) -> Iterator[RenderableType]:
    """Live bytes by operator as bars; neighbours share a row where there are many."""
    if not plan.ops or not any(load.live_bytes for load in plan.ops):
        return
    most = max(load.live_bytes for load in plan.ops)
    size = -(-len(plan.ops) // _ROWS)
    groups = [plan.ops[start : start + size] for start in range(0, len(plan.ops), size)]
    where = "alive in arena and workspace" if plan.workspace_placements else "alive in the arena"
    yield heading(where, "the most of each row" if size > 1 else "")
    table = grid("right", "left", "right", "left")
    for group in groups:
        high = max(group, key=lambda load: load.live_bytes)
        table.add_row(
            "", _range(group), safe(high.type, 28), f"{high.live_bytes:,}", _bar(high.live_bytes, most)
        )
    yield table


def _range(group: Sequence[OpLoad]) -> str:
    return str(group[0].index) if len(group) == 1 else f"{group[0].index}-{group[-1].index}"


def _unshared(plan: Plan) -> Iterator[RenderableType]:
    if not plan.unshared:
        return
    rows = sorted(plan.unshared, key=lambda row: -row[2])
    yield heading("could not share memory", plural(len(rows), "tensor"))
    table = grid("right", "left", "dim")
    for tensor, name, size, reason in rows[:_UNSHARED]:
        table.add_row("", f"{size:,}", safe(name, _NAME) or f"tensor {tensor}", safe(reason, _TEXT))
    if len(rows) > _UNSHARED:
        rest = sum(row[2] for row in rows[_UNSHARED:])
        table.add_row("", f"{rest:,}", f"{len(rows) - _UNSHARED} more", "")
    yield table


def _measured(plan: Plan) -> Iterator[RenderableType]:
    if plan.measured is None:
        return
    measured: dict[str, Any] = dict(plan.measured)
    where = str(measured.get("runtime") or "private memory above the worker's baseline")
    yield heading("measured", where if plan.accelerator != "tflm" or measured.get("stages") else "")
    rows = measured.get("stages") or ()
    if rows:
        table = grid("left", "right", "right", "right", "dim")
        title = "part" if plan.accelerator == "tflm" else "after"
        table.add_row("", title, "planned", "measured", "difference", "")
        for row in rows:
            cells = _three(row, plan.accelerator == "tflm")
            table.add_row("", row["stage"], *cells, row.get("why", ""))
        yield table
    for said in measured.get("explanation") or ():
        yield f"  {safe(str(said), 2 * _TEXT)}"


def _three(row: dict[str, Any], exact: bool) -> tuple[str, str, str]:
    seen, difference = row["measured_bytes"], row["difference_bytes"]
    show: Callable[[int], str] = "{:,}".format if exact else format_bytes
    planned = show(row["predicted_bytes"])
    if seen is None:
        return planned, "not reached", ""
    return planned, show(seen), f"{'+' if difference >= 0 else '-'}{show(abs(difference))}"


def _lines(title: str, items: Sequence[str]) -> Iterator[RenderableType]:
    if items:
        yield heading(title)
        yield from (f"  {safe(item, 2 * _TEXT)}" for item in items)


def _size(size: int, exact: bool) -> str:
    return f"{size:,}" if exact else f"about {format_bytes(size)}"


def _bar(value: int, most: int, width: int = _BAR) -> str:
    """A bar in eighths of a character, so that small shares can still be told apart."""
    eighths = min(8 * width, round(8 * width * value / max(1, most)))
    return "█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else "")
