"""A plan: whether it fits, its parts, bytes alive at each operator, the arena as a map, what is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from outlive.arena.budget import needed_bytes, said_of, worst_moment
from outlive.arena.plan import OpLoad, Placement, Plan, PlannedSetting, Verdict, is_exact
from outlive.names import safe
from outlive.rendering import page as ui
from outlive.rendering.pages.read import model_sections, model_tiles, what_is_known
from outlive.units import format_bytes, format_shape, plural

_NAME = 120
# Boxes beyond these are too small to be seen or hit; a browser draws this many at once.
_MOST_BOXES = 20_000
TONES: dict[str, ui.Tone] = {
    "fits": "good",
    "tight": "warn",
    "may not fit": "warn",
    "does not fit": "bad",
    "refused": "bad",
}
_PALETTE = 7
_INPUTS = 4
_CERTAINTY = {
    "at most": "an upper bound",
    "at least": "a lower bound, plus memory of unknown size",
    "about": "an estimate",
}
_KERNELS = {
    "cpu": "XNNPACK, LiteRT's default on CPUs",
    "builtin": "LiteRT's builtin kernels",
    "reference": "LiteRT's reference kernels",
    "tflm": "TensorFlow Lite Micro",
}
_SIZES = (
    ("arena", "arena_bytes"),
    ("persistent", "persistent_bytes"),
    ("packed weights", "packed_weights_bytes"),
    ("workspace", "workspace_bytes"),
    ("peak", "peak_bytes"),
    ("smallest arena", "min_arena_bytes"),
)


def page(plan: Plan) -> ui.Page:
    """The page of a plan."""
    rows = plan.sweep or plan.compare
    sections = [
        *ui.findings_sections(plan.findings),
        *([_settings(rows)] if rows else []),
        plan_section(plan, plan.verdict, 1 if rows else 0),
    ]
    tiles = list(plan_tiles(plan, plan.verdict))
    sections += model_sections(plan.source, what_is_known(plan))
    tiles += model_tiles(plan.source)
    return ui.make_page("plan", plan.path, plan_verdict(plan, plan.verdict), tiles, sections)


def plan_section(plan: Plan, verdict: Verdict | None = None, detail: int = 0) -> ui.Section:
    """Everything a plan says about memory."""
    blocks: list[ui.Block] = []
    if plan.refusals:
        said = [f"operator {item.op}, {item.type}: {item.reason}" for item in plan.refusals[:20]]
        blocks.append(ui.Listing(tuple(said), title="The runtime refuses"))
    else:
        # Whether it fits is the answer; its parts are for who asks for more.
        parts = replace(_parts(plan), detail=0 if verdict is None else 1)
        blocks += [parts, *_charts(plan), *(replace(table, detail=parts.detail) for table in _unshared(plan))]
    blocks += _measured(plan)
    if verdict is not None and verdict.ways:
        blocks.append(replace(_ways(verdict), detail=1))
    if plan.unknown:
        blocks.append(ui.Listing(plan.unknown[:40], title="Unknown", detail=1))
    if plan.assumed:
        blocks.append(ui.Listing(plan.assumed[:40], title="Assumed", detail=1))
    return ui.Section("memory", "Memory", tuple(blocks), lead=_lead(plan), detail=detail)


def _lead(plan: Plan) -> str:
    ends = ", ".join(f"{name} {format_shape(shape)} {dtype}" for name, shape, dtype in plan.inputs[:_INPUTS])
    more = f" and {len(plan.inputs) - _INPUTS} more" if len(plan.inputs) > _INPUTS else ""
    kernels = _KERNELS.get(plan.accelerator, plan.accelerator)
    return f"Planned for {kernels}, {certainty(plan)}; {ends or 'no inputs'}{more}."


def amount(plan: Plan, size: int | None) -> str:
    """A sum of a plan's parts: to the byte where that is known, else `at most`, `at least` or `about`."""
    if size is None:
        return "unknown"
    return f"{size:,} bytes" if is_exact(plan) else f"{said_of(plan.bound, size)} {format_bytes(size)}"


def certainty(plan: Plan) -> str:
    """What the figures are worth."""
    return (
        "computed by the runtime's own rules"
        if is_exact(plan)
        else _CERTAINTY[said_of(plan.bound, plan.peak_bytes or 0)]
    )


def plan_tiles(plan: Plan, verdict: Verdict | None = None) -> Iterator[ui.Tile]:
    """What is needed, and what is left."""
    needed = needed_bytes(plan)
    if needed is None:
        yield ui.Tile("memory", "refused", "the runtime refuses the model", tone="bad")
        return
    what = "smallest arena" if plan.accelerator == "tflm" else "peak memory"
    yield ui.Tile(f"{what}, planned", amount(plan, needed), certainty(plan))
    if verdict is not None and verdict.margin_bytes is not None:
        left, ram = verdict.margin_bytes, format_bytes(verdict.budget.ram_bytes)
        word = "free" if left >= 0 else "missing"
        tone = TONES[verdict.word]
        yield ui.Tile(f"of {ram}", f"{format_bytes(abs(left))} {word}", verdict.budget.title, tone=tone)


def _parts(plan: Plan) -> ui.Table:
    whole = max(1, plan.peak_bytes or 0)
    rows: list[Sequence[ui.Cell]] = [
        (
            part.name,
            part.bytes,
            part.bytes / whole if part.bytes <= whole else None,
            part.source or "",
            "exact" if part.exact else "estimate",
        )
        for part in plan.parts
        if part.bytes
    ]
    rows += [(name, size, None, said, None) for name, size, said in _totals(plan) if size is not None]
    return ui.Table(
        "parts",
        f"Private memory: {amount(plan, plan.peak_bytes)}",
        ui.columns(
            "part | size: bar | share: share | source: wide -v",
            ui.Column("certainty", "chip", {"exact": "good", "estimate": "warn"}, detail=1),
        ),
        rows,
    )


def _totals(plan: Plan) -> Iterator[tuple[str, int | None, str]]:
    if plan.accelerator == "tflm":
        used = None if plan.arena_bytes is None else plan.arena_bytes + (plan.persistent_bytes or 0)
        yield "arena used", used, "head and tail after allocation"
        yield "smallest arena", plan.min_arena_bytes, "including space for planning"
        yield "file", plan.file_bytes, "in flash"
    else:
        yield "peak", plan.peak_bytes, "private memory, from load to the last invoke"
        yield "mapped file", plan.mapped_bytes, "shared and reclaimable"
    yield "lower bound", plan.lower_bound_bytes, "alive at one operator"


def _measured(plan: Plan) -> Iterator[ui.Block]:
    """Planned beside measured, stage by stage."""
    if plan.measured is None:
        return
    micro = plan.accelerator == "tflm"
    show: Callable[[int], str] = "{:,}".format if micro else format_bytes
    rows = [
        (
            row["stage"],
            show(row["predicted_bytes"]),
            "not reached" if row["measured_bytes"] is None else show(row["measured_bytes"]),
            _difference(row["difference_bytes"], show),
            row.get("why", ""),
        )
        for row in plan.measured.get("stages") or ()
    ]
    where = str(plan.measured.get("runtime") or "private memory above the worker's baseline")
    if rows:
        titles = ("part" if micro else "after", "planned", "measured", "difference", "")
        columns = tuple(ui.Column(title, wide=not title) for title in titles)
        yield ui.Table("measured", f"Measured: {where}", columns, rows)
    explained = tuple(str(said) for said in plan.measured.get("explanation") or ())
    if explained:
        yield ui.Listing(explained, title="" if rows else "Measured")


def _difference(size: int | None, show: Callable[[int], str]) -> str:
    return "" if size is None else f"{'+' if size >= 0 else '-'}{show(abs(size))}"


def _charts(plan: Plan) -> Iterator[ui.Block]:
    if any(load.live_bytes for load in plan.ops):
        yield alive_chart(plan)
    arena = [place for place in plan.placements if place.subgraph == 0 and not place.persistent]
    maps = [
        _map(f"{kind}-map", title, places, plan)
        for kind, title, places in (
            ("arena", "Arena", arena),
            ("workspace", "Delegate's workspace", list(plan.workspace_placements)),
        )
        if places and plan.ops
    ]
    if len(maps) > 1:
        largest_first = sorted(maps, key=lambda chart: -int(chart.data["most"]))
        yield ui.Choice("Which memory", tuple(largest_first))
    elif maps:
        yield maps[0]
    else:
        yield ui.Words("This plan has no tensors in an arena.")


def alive_chart(plan: Plan) -> ui.Chart:
    """Bytes alive while each operator runs, the worst moment marked."""
    position, worst = max(enumerate(plan.ops), key=lambda item: item[1].live_bytes)
    moment = worst_moment(plan)
    largest = moment[1][:3] if moment else ()
    names = ", ".join(f"{safe(_named(place), 48)} ({format_bytes(place.size_bytes)})" for place in largest)
    where = "arena and workspace" if plan.workspace_placements else "the arena"
    summary = (
        f"Peak at operator {worst.index}, {safe(worst.type, 40)}: {worst.live_bytes:,} bytes in {where}"
        + (f"; largest tensors: {names}." if names else ".")
    )
    levels = None
    if plan.lower_bound_bytes and plan.arena_bytes and not plan.workspace_placements:
        level = f"arena {format_bytes(plan.arena_bytes)}"
        levels = [{"y": plan.arena_bytes, "name": level, "tone": "soft"}]
    data = ui.lines(
        range(len(plan.ops)),
        ("op", "operator, in the order they run"),
        ("bytes", "alive"),
        ui.curve("alive", "0", "bars", [load.live_bytes for load in plan.ops]),
        labels=[_op_label(load) for load in plan.ops],
        worst={"x": position, "y": worst.live_bytes, "name": f"peak: {format_bytes(worst.live_bytes)}"},
        levels=levels,
    )
    rows = [(load.index, load.type, load.live_bytes) for load in plan.ops]
    columns = ui.columns("op: number | type: mono | alive: bar")
    table = ui.Table("alive-table", "Data", columns, rows, is_folded=True)
    return ui.Chart("alive", "Memory alive at each operator", summary, data, table, detail=0)


def _op_label(load: OpLoad) -> str:
    name = f" {safe(load.name, 60)}" if load.name and load.name != load.type else ""
    return f"op {load.index} {safe(load.type, 40)}{name}"


def _map(ident: str, title: str, places: Sequence[Placement], plan: Plan) -> ui.Chart:
    """Offset against operator, a box per tensor."""
    kept = sorted(places, key=lambda place: -place.size_bytes)[:_MOST_BOXES]
    ops = len(plan.ops)
    position = max(range(ops), key=lambda at: plan.ops[at].live_bytes)
    most = max(place.end_bytes for place in kept)
    boxes: dict[str, list[Any]] = {"x0": [], "x1": [], "y0": [], "y1": [], "name": [], "life": [], "tone": []}
    for place in kept:
        first, last = max(-1, min(place.first_op, ops)), max(-1, min(place.last_op, ops))
        boxes["x0"].append(first - 0.5)
        boxes["x1"].append(last + 0.5)
        boxes["y0"].append(place.offset_bytes)
        boxes["y1"].append(place.end_bytes)
        boxes["name"].append(_named(place))
        boxes["life"].append(_life(place, ops))
        boxes["tone"].append(str(place.tensor % _PALETTE))
    largest = kept[0]
    hidden = (
        f" {plural(len(places) - len(kept), 'small tensor')} not drawn." if len(places) > len(kept) else ""
    )
    summary = (
        f"{plural(len(places), 'tensor')} share {most:,} bytes; across are operators, up the offsets, "
        f"and a box shows the lifetime of a tensor. The largest is {safe(_named(largest), 60)}: "
        f"{largest.size_bytes:,} bytes, {_life(largest, ops)}.{hidden}"
    )
    data = {
        "kind": "map",
        "x_kind": "op",
        "y_kind": "bytes",
        "x_name": "operator",
        "y_name": "offset",
        "height": 380,
        "x_span": [-1.5, ops + 0.5],
        "most": most,
        "boxes": boxes,
        "worst": {"x": position, "name": f"peak: operator {plan.ops[position].index}"},
    }
    return ui.Chart(
        ident,
        title,
        summary,
        data,
        hint="Drag to zoom both ways, double-click to see all.",
        table=_map_table(ident, kept, ops),
    )


def _map_table(ident: str, places: Sequence[Placement], ops: int) -> ui.Table:
    return ui.Table(
        f"{ident}-table",
        "Data, largest first",
        ui.columns("tensor: number | name: mono wide | size: bar | offset: number | alive"),
        [
            (place.tensor, place.name, place.size_bytes, place.offset_bytes, _life(place, ops))
            for place in places[:5000]
        ],
        is_folded=True,
    )


def _named(place: Placement) -> str:
    return safe(place.name, _NAME) or f"tensor {place.tensor}"


def _life(place: Placement, ops: int) -> str:
    first = "the start" if place.first_op < 0 else f"op {place.first_op}"
    last = "the end" if place.last_op >= ops else f"op {place.last_op}"
    return f"from {first} to {last}" if first != last else f"only at {first}"


def _unshared(plan: Plan) -> Iterator[ui.Block]:
    if plan.unshared:
        rows = sorted(plan.unshared, key=lambda row: -row[2])
        yield ui.Table(
            "unshared",
            "Tensors that cannot share memory",
            ui.columns("tensor: number | name: mono wide | size: bar | why: wide"),
            rows[:1000],
            is_folded=True,
        )


def _ways(verdict: Verdict) -> ui.Table:
    return ui.Table(
        "ways",
        "Settings that fit",
        ui.columns(
            "setting: wide | needs: bytes",
            ui.Column("results", "chip", {"same": "good", "change": "warn"}),
            "options: mono wide",
        ),
        [
            (way.what, way.needed_bytes, "change" if way.changes_results else "same", " ".join(way.options))
            for way in verdict.ways
        ],
    )


def plan_verdict(plan: Plan, verdict: Verdict | None) -> ui.PageVerdict:
    """Whether it fits; without a budget, what it needs."""
    needed = needed_bytes(plan)
    if needed is None:
        return ui.PageVerdict("bad", "refused", "The model does not run on this runtime.")
    need = f"needs {amount(plan, needed)}"
    if verdict is None:
        return ui.PageVerdict("plain", need)
    reasons = [reason[:1].upper() + reason[1:] for reason in verdict.reasons]
    said = ". ".join((f"{need[0].upper()}{need[1:]}; {_room(verdict)}", *reasons))
    return ui.PageVerdict(TONES[verdict.word], verdict.word, f"{said}.")


def _room(verdict: Verdict) -> str:
    """The memory of the budget, and what is left of it."""
    budget = verdict.budget
    said = f"{budget.title} has {format_bytes(budget.ram_bytes, budget.ram_bytes)}"
    if verdict.margin_bytes is not None:
        share = abs(verdict.margin_bytes) / max(1, budget.ram_bytes)
        size = format_bytes(abs(verdict.margin_bytes))
        said += f", {size} ({share:.0%}) " + ("free" if verdict.margin_bytes >= 0 else "missing")
    if budget.free_bytes is not None:
        said += f"; free now: {format_bytes(budget.free_bytes)}"
    if verdict.flash_margin_bytes is not None and budget.flash_bytes is not None:
        said += f"; file {format_bytes(verdict.plan.file_bytes)} of {format_bytes(budget.flash_bytes)} flash"
    return f"{said} ({budget.source})"


def _settings(rows: Sequence[PlannedSetting]) -> ui.Section:
    names = list(dict.fromkeys(name for row in rows for name in row.setting))
    judged = any(row.verdict for row in rows)
    columns = [ui.Column(name, "mono") for name in names]
    columns += [ui.Column(title, "bar" if title == "peak" else "bytes") for title, _ in _SIZES]
    columns += [ui.Column("verdict", "chip", TONES)] if judged else []
    columns.append(ui.Column("", wide=True))
    cells = [
        [
            *(row.setting.get(name, "") for name in names),
            *(None if row.plan is None else getattr(row.plan, field) for _, field in _SIZES),
            *([row.verdict.word if row.verdict else None] if judged else []),
            row.problem,
        ]
        for row in rows
    ]
    table = ui.Table("settings-table", "Settings side by side", tuple(columns), cells)
    return ui.Section("settings", "What if", (table,))
