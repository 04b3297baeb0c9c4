"""The page of `outlive fit`: what was chosen, memory against loss with the front in it, every candidate."""

from __future__ import annotations

from collections.abc import Iterator

from outlive.fitting.nouns import Fit, Outcome, Shortage
from outlive.names import safe
from outlive.rendering.fit_loss import caution
from outlive.rendering.fit_text import loss_words
from outlive.rendering.page import (
    Block,
    Chart,
    Column,
    Listing,
    Page,
    PageVerdict,
    Pre,
    Section,
    Table,
    Tile,
    Words,
)
from outlive.units import format_bytes, plural

_TONES = {
    "fits": "good",
    "tight": "warn",
    "may not fit": "warn",
    "does not fit": "bad",
    "loses too much": "4",
    "refused": "plain",
    "died": "3",
    "not tried": "plain",
}


def fit_page(fit: Fit) -> Page:
    """The whole page."""
    name = fit.source.rstrip("/").rpartition("/")[2] or "model given as bytes"
    return Page(
        title=name,
        kind="fit",
        verdict=fit_verdict(fit),
        tiles=tuple(_tiles(fit)),
        sections=tuple(_sections(fit)),
        subtitle=fit.source,
    )


def fit_verdict(fit: Fit) -> PageVerdict:
    """What fits, and what it costs; or that nothing does."""
    room = f"{fit.budget.title}: {format_bytes(fit.budget.ram_bytes)}"
    if fit.chosen is None:
        changes = "; ".join(fit.shortage.needed_changes) if fit.shortage is not None else ""
        return PageVerdict(tone="bad", word="nothing that was tried fits", sentence=f"{room}. {changes}")
    chosen = fit.chosen
    need = "" if chosen.needed_bytes is None else f" It needs {format_bytes(chosen.needed_bytes)} of {room}."
    cost = "" if chosen.loss is None else f" Loss {loss_words(fit, chosen.loss)}."
    warning = caution(fit)
    but = f", but {warning.words}" if warning else ""
    return PageVerdict(
        tone=warning.tone if warning else "warn" if chosen.verdict == "tight" else "good",
        word=f"{chosen.verdict}: {', '.join(chosen.candidate.steps) or 'as it is'}{but}",
        sentence=f"{chosen.candidate.setting}.{need}{cost}",
    )


def _tiles(fit: Fit) -> Iterator[Tile]:
    chosen = fit.chosen
    if chosen is not None:
        if chosen.needed_bytes is not None:
            how = "planned" if chosen.measured_peak_bytes is None else "measured"
            yield Tile(label=f"memory, {how}", value=format_bytes(chosen.needed_bytes), tone="good")
        if chosen.file_bytes is not None:
            yield Tile(
                label="file",
                value=format_bytes(chosen.file_bytes),
                note=f"was {format_bytes(fit.original_bytes)}",
            )
        if chosen.loss is not None:
            warning = caution(fit)
            yield Tile(
                label="loss",
                value=loss_words(fit, chosen.loss),
                note="indicative" if fit.is_indicative else fit.loss_by,
                tone=warning.tone if warning else "plain",
            )
        if chosen.milliseconds is not None:
            yield Tile(label="invoke", value=f"{chosen.milliseconds:,.2f} ms")
    tried = sum(1 for one in fit.candidates if one.verdict != "not tried")
    fitting = sum(1 for one in fit.candidates if one.fits)
    yield Tile(label="tried", value=f"{tried}", note=f"{fitting} of them fit; {fit.seconds:,.1f} s")


def _sections(fit: Fit) -> Iterator[Section]:
    if fit.shortage is not None and fit.chosen is None:
        yield Section(id="shortage", title="Why nothing fits", blocks=tuple(_shortage(fit.shortage)))
    blocks: list[Block] = [*_front(fit), _candidates(fit)]
    if fit.notes:
        blocks.append(Listing(title="Notes", items=fit.notes))
    yield Section(id="candidates", title="What was tried", blocks=tuple(blocks))
    if fit.snippet:
        block = Pre(title="Python that loads it as it was measured", text=fit.snippet, is_open=True)
        yield Section(id="snippet", title="Use it", blocks=(block,))


def _front(fit: Fit) -> Iterator[Block]:
    known = [one for one in fit.candidates if one.needed_bytes is not None and one.loss is not None]
    if len(known) < 2:
        return
    front = _least_loss(known)
    points = [
        {
            "x": one.needed_bytes,
            "y": one.loss,
            "name": safe(str(one.candidate), 120),
            "tone": _TONES[one.verdict],
            "front": one in front,
            "chosen": one is fit.chosen or one == fit.chosen,
            "words": _words(one),
        }
        for one in known
    ]
    told = "; ".join(safe(str(one.candidate), 80) for one in front[:6])
    yield Chart(
        id="front",
        title="Memory against loss",
        summary=f"{plural(len(known), 'candidate')}. The least loss for its memory, smallest first: {told}.",
        data={
            "kind": "points",
            "x_kind": "bytes",
            "x_name": "memory",
            "y_kind": "share" if fit.loss_is_share else "number",
            "y_name": "loss",
            "points": points,
            "height": 340,
            "moments": [
                {"x": fit.budget.ram_bytes, "name": f"the budget, {format_bytes(fit.budget.ram_bytes)}"}
            ]
            if fit.budget.ram_bytes <= 3 * max(one.needed_bytes or 0 for one in known)
            else [],
            "legend": [
                {"name": word, "tone": tone}
                for word, tone in _TONES.items()
                if any(one.verdict == word for one in known)
            ],
        },
    )


def _least_loss(known: list[Outcome]) -> list[Outcome]:
    """Those of which no other has both less memory and less loss, from little memory to much."""
    found: list[Outcome] = []
    for one in sorted(known, key=lambda item: (item.needed_bytes or 0, item.loss or 0.0)):
        if not found or (one.loss or 0.0) < (found[-1].loss or 0.0):
            found.append(one)
    return found


def _words(one: Outcome) -> list[str]:
    said = [one.verdict + (f": {safe(one.reason, 160)}" if one.reason else "")]
    if one.file_bytes is not None:
        said.append(f"file {format_bytes(one.file_bytes)}")
    if one.milliseconds is not None:
        said.append(f"{one.milliseconds:,.2f} ms")
    if one.on_front:
        said.append("no other beats it in memory, file, time and loss at once")
    return said


def _candidates(fit: Fit) -> Table:
    return Table(
        id="candidates-table",
        caption=plural(len(fit.candidates), "candidate"),
        columns=(
            Column(title="#", kind="number"),
            Column(title="candidate", wide=True),
            Column(title="verdict", kind="chip", tones=_TONES),
            Column(title="planned", kind="bytes"),
            Column(title="measured", kind="bar"),
            Column(title="file", kind="bytes"),
            Column(title="milliseconds", kind="number"),
            Column(title="loss", kind="share" if fit.loss_is_share else "number"),
            Column(title="changes", kind="text"),
            Column(title="why", wide=True),
        ),
        rows=[
            (
                one.rank,
                str(one.candidate),
                one.verdict,
                one.peak_bytes,
                one.measured_peak_bytes,
                one.file_bytes,
                one.milliseconds,
                one.loss,
                one.tag.value.replace("-", " "),
                one.reason,
            )
            for one in fit.candidates
        ],
    )


def _shortage(shortage: Shortage) -> Iterator[Block]:
    smallest = shortage.smallest
    if smallest.needed_bytes is not None:
        yield Words(
            text=f"The smallest found needs {format_bytes(smallest.needed_bytes)}: {smallest.candidate}.",
            tone="warn",
        )
    if shortage.lower_bound_bytes is not None:
        yield Words(
            text=f"None of what was tried can do with less than {shortage.lower_bound_bytes:,} bytes: "
            "so much is alive at once."
        )
    if shortage.tensors:
        yield Table(
            id="shortage-tensors",
            caption="The tensors that are responsible",
            columns=(Column(title="tensor", kind="mono", wide=True), Column(title="size", kind="bar")),
            rows=shortage.tensors,
        )
    if shortage.needed_changes:
        yield Listing(title="What would have to change", items=shortage.needed_changes)
