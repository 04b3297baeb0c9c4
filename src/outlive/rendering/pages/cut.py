"""A part of a model: what went in, what comes out, what it was cut from."""

from __future__ import annotations

from collections import Counter

from outlive.rendering import page as ui
from outlive.surgery import Cut, CutTensor
from outlive.units import format_bytes, format_shape, plural

_KINDS, _RUNS = 8, 24


def page(part: Cut) -> ui.Page:
    """The page of `outlive cut`."""
    whole = part.whole.subgraphs[0].operators if part.whole is not None else ()
    of_ops = f" of {len(whole):,}" if whole else ""
    of_bytes = f" of {format_bytes(part.whole.file_bytes)}" if part.whole is not None else ""
    word = f"{plural(len(part.ops), 'operator')}{of_ops}, {format_bytes(part.file_bytes)}{of_bytes}"
    blocks: list[ui.Block] = [_tensors("Inputs", part.inputs), _tensors("Outputs", part.outputs)]
    sections = [ui.Section("ends", "Inputs and outputs", tuple(blocks))]
    kinds = Counter(whole[index].name for index in part.ops if index < len(whole)).most_common()
    more = f" and {len(kinds) - _KINDS} other kinds" if len(kinds) > _KINDS else ""
    said = ", ".join(f"{count} {name[:48]}" for name, count in kinds[:_KINDS]) + more
    listing = ui.Listing(tuple(filter(None, (_runs(part.ops), said))))
    sections.append(ui.Section("operators", "Operators of the whole model", (listing,)))
    for title, lines in (("State", part.state), ("Removed", part.dropped)):
        if lines:
            sections.append(ui.Section(title.split()[0].lower(), title, (ui.Listing(lines),)))
    return ui.make_page("cut", part.path, ui.PageVerdict("plain", word), (), sections)


def _tensors(title: str, tensors: tuple[CutTensor, ...]) -> ui.Table:
    columns = ui.columns("name: mono wide | shape: mono | type: mono | index: number | index before: number")
    rows = [(item.name, format_shape(item.shape), item.dtype, item.index, item.original) for item in tensors]
    return ui.Table(title.lower(), title, columns, rows)


def _runs(ops: tuple[int, ...]) -> str:
    """Operators of the whole as runs: `0 to 12, 15, 17`."""
    runs: list[list[int]] = []
    for index in ops:
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    words = [f"{first} to {last}" if last > first else str(first) for first, last in runs]
    more = f" and {len(words) - _RUNS} more runs" if len(words) > _RUNS else ""
    return ", ".join(words[:_RUNS]) + more
