"""Plans side by side: a sweep, a comparison of settings, and the list of devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.arena.devices import Device
from outlive.arena.plan import PlanRow
from outlive.names import safe
from outlive.rendering.model_text import heading
from outlive.units import format_bytes

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_NAME = 32
_TEXT = 200
_PREFIX = {("peak_bytes", "lower"): "at least ", ("peak_bytes", "estimate"): "about "}
_STYLE = {
    "fits": "green",
    "tight": "yellow",
    "may not fit": "yellow",
    "does not fit": "red",
    "refused": "red",
}
_COLUMNS = (
    ("arena", "arena_bytes"),
    ("persistent", "persistent_bytes"),
    ("packed", "packed_weights_bytes"),
    ("workspace", "workspace_bytes"),
    ("peak", "peak_bytes"),
    ("smallest arena", "min_arena_bytes"),
)


def rows_text(title: str, rows: Sequence[PlanRow]) -> Iterator[RenderableType]:
    """A table of plans; columns that say nothing in any row are left out."""
    yield heading(title)
    names = list(dict.fromkeys(name for row in rows for name in row.setting))
    columns = [(label, field) for label, field in _COLUMNS if _speaks(rows, field)]
    judged = any(row.verdict for row in rows)
    table = _table(
        [*(safe(name, _NAME) for name in names)],
        [label for label, _ in columns],
        ["verdict"] if judged else [],
    )
    for row in rows:
        table.add_row(*_cells(row, names, [field for _, field in columns], judged))
    yield table
    for row in rows:
        if row.problem:
            setting = " ".join(f"{name}={value}" for name, value in row.setting.items())
            yield f"  {safe(setting, _NAME * 2)}: {safe(row.problem, 2 * _TEXT)}"


def devices_text(devices: Sequence[Device]) -> Iterator[RenderableType]:
    """The devices, by what they run, with what their documents say."""
    for kind in ("board", "phone", "microcontroller"):
        some = [device for device in devices if device.kind == kind]
        if not some:
            continue
        yield heading(f"{kind}s")
        table = _table(["name", ""], ["RAM", "flash"], ["document"])
        for device in some:
            flash = "" if device.flash_bytes is None else format_bytes(device.flash_bytes)
            ram = format_bytes(device.ram_bytes)
            table.add_row(device.name, safe(device.title, 60), ram, flash, safe(device.document, _TEXT))
        yield table


def _speaks(rows: Sequence[PlanRow], field: str) -> bool:
    return any(row.plan is not None and getattr(row.plan, field) for row in rows)


def _cells(row: PlanRow, names: Sequence[str], fields: Sequence[str], judged: bool) -> list[RenderableType]:
    from rich.text import Text

    cells: list[RenderableType] = [safe(row.setting.get(name, ""), _NAME) for name in names]
    for field in fields:
        size = None if row.plan is None else getattr(row.plan, field)
        prefix = "" if row.plan is None else _PREFIX.get((field, row.plan.bound), "")
        cells.append("" if size is None else prefix + format_bytes(size))
    if judged:
        word = row.verdict.word if row.verdict else ""
        cells.append(Text(word, style=_STYLE.get(word, "")))
    return cells


def _table(left: Sequence[str], right: Sequence[str], last: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for names, justify in ((left, "left"), (right, "right"), (last, "left")):
        for name in names:
            table.add_column(name, justify="right" if justify == "right" else "left", overflow="fold")
    return table
