"""Which card shows which thing: nouns of outlive by module and name of their class, loaded when needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outlive.jupyter.cards import Card, finding_tone, findings_parts


def finding_card(finding: Any) -> Card:
    """A finding."""
    from outlive.rendering.finding_text import rich_finding

    return Card(label="finding", parts=lambda: [rich_finding(finding)], tone=finding_tone([finding]))


def findings_card(judgement: Any) -> Card:
    """What `outlive.check` found."""
    return Card(
        label="findings", parts=lambda: findings_parts(judgement), tone=finding_tone(judgement.findings)
    )


CARDS: dict[tuple[str, str], Callable[[Any], Card]] = {
    ("outlive.finding", "Finding"): finding_card,
    ("outlive.rules.engine", "Judgement"): findings_card,
}


# Results whose page every medium draws.
RESULTS = (
    ("outlive.accelerators.nouns", "Coverage"),
    ("outlive.arena.plan", "Plan"),
    ("outlive.diagnosis.autopsy", "Autopsy"),
    ("outlive.diagnosis.nouns", "Diagnosis"),
    ("outlive.environment.checkup", "Environment"),
    ("outlive.growth.growth", "Growth"),
    ("outlive.kernel_deaths.record", "KernelDeaths"),
    ("outlive.verbs.devices", "Devices"),
    ("outlive.worker.flight", "Flight"),
    ("outlive.model.nouns", "Model"),
    ("outlive.surgery.cutting", "Cut"),
    ("outlive.quant.nouns", "Drift"),
    ("outlive.quant.quantized", "Quantized"),
    ("outlive.quant.converting", "Converted"),
    ("outlive.fitting.nouns", "Fit"),
    ("outlive.rules.checked", "Checks"),
    ("outlive.verbs.examined", "ModelReport"),
    ("outlive.fleet.scanning", "Scan"),
    ("outlive.exporting.micro", "Export"),
)


def register(shell: Any) -> None:
    """Show these things as cards from now on."""
    html, plain = _formatters(shell)
    for module, name in RESULTS:
        html.for_type_by_name(module, name, lambda result: _bundle(result)["text/html"])
        plain.for_type_by_name(module, name, _plain_result)
    for (module, name), make in CARDS.items():
        html.for_type_by_name(module, name, _html_of(make))
        plain.for_type_by_name(module, name, _plain_of(make))


def unregister(shell: Any) -> None:
    """Show them as before."""
    for formatter in _formatters(shell):
        for module, name in (*CARDS, *RESULTS):
            formatter.pop(f"{module}.{name}", None)


def _formatters(shell: Any) -> tuple[Any, Any]:
    formatters = shell.display_formatter.formatters
    return formatters["text/html"], formatters["text/plain"]


def _html_of(make: Callable[[Any], Card]) -> Callable[[Any], str]:
    return lambda thing: make(thing).html()


def _plain_of(make: Callable[[Any], Card]) -> Callable[[Any, Any, bool], None]:
    def draw(thing: Any, printer: Any, cycle: bool) -> None:
        # Inside of a list or a dictionary a whole report would be in the way.
        alone = not printer.stack or len(printer.stack) <= 1
        printer.text(make(thing).plain() if alone and not cycle else repr(thing))

    return draw


def _bundle(result: Any) -> dict[str, str]:
    from outlive.rendering import page_of
    from outlive.rendering.media.notebook import card_bundle

    return card_bundle(page_of(result))


def _plain_result(result: Any, printer: Any, cycle: bool) -> None:
    alone = not printer.stack or len(printer.stack) <= 1
    printer.text(_bundle(result)["text/plain"] if alone and not cycle else repr(result))
