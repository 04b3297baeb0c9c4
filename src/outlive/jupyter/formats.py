"""Which card shows which thing: nouns of outlive by module and name of their class, loaded when needed."""

from __future__ import annotations

from typing import Any

# Findings, which have no page of their own.
FINDINGS = (("outlive.finding", "Finding"), ("outlive.rules.judgement", "Judgement"))
# Results whose page every medium draws.
RESULTS = (
    ("outlive.accelerators.coverage", "Coverage"),
    ("outlive.arena.plan", "Plan"),
    ("outlive.diagnosis.autopsy", "Autopsy"),
    ("outlive.diagnosis.nouns", "Diagnosis"),
    ("outlive.environment.checkup", "Environment"),
    ("outlive.growth.growth", "Growth"),
    ("outlive.kernel_deaths.record", "KernelDeaths"),
    ("outlive.verbs.devices", "Devices"),
    ("outlive.process.flight", "Flight"),
    ("outlive.model.model", "Model"),
    ("outlive.surgery.cut", "Cut"),
    ("outlive.quant.drift", "Drift"),
    ("outlive.quant.quantized", "Quantized"),
    ("outlive.quant.conversion", "Converted"),
    ("outlive.fitting.fit_result", "Fit"),
    ("outlive.rules.checked", "Checks"),
    ("outlive.verbs.examined", "ModelReport"),
    ("outlive.fleet.scanning", "Scan"),
    ("outlive.exporting.micro", "Export"),
)


def register(shell: Any) -> None:
    """Show these things as cards from now on."""
    html, plain = _formatters(shell)
    for module, name in (*RESULTS, *FINDINGS):
        html.for_type_by_name(module, name, lambda thing: bundle_of(thing)["text/html"])
        plain.for_type_by_name(module, name, _plain)


def unregister(shell: Any) -> None:
    """Show them as before."""
    for formatter in _formatters(shell):
        for module, name in (*RESULTS, *FINDINGS):
            formatter.pop(f"{module}.{name}", None)


def bundle_of(thing: Any) -> dict[str, str]:
    """The card of a thing, as HTML and as plain text."""
    from outlive.rendering import page_of
    from outlive.rendering.media.notebook import card_bundle
    from outlive.rendering.pages.finding import findings_page

    if hasattr(thing, "kind"):
        return card_bundle(page_of(thing))
    return card_bundle(findings_page(getattr(thing, "findings", (thing,))))


def _formatters(shell: Any) -> tuple[Any, Any]:
    formatters = shell.display_formatter.formatters
    return formatters["text/html"], formatters["text/plain"]


def _plain(thing: Any, printer: Any, cycle: bool) -> None:
    # Inside of a list or a dictionary a whole report would be in the way.
    alone = not printer.stack or len(printer.stack) <= 1
    printer.text(bundle_of(thing)["text/plain"] if alone and not cycle else repr(thing))
