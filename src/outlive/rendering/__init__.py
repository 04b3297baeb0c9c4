"""HOW DO WE SAY IT?

    result ── pages/<kind>.py ──> Page ──> media/text.py, html.py, notebook.py
           └─ media/json.py ────> the JSON document   └─ media/csv.py, sarif.py ...: what other tools read

A result says its `kind`; `page_of` finds the module that makes its page. Drawing lives here and nowhere else.
Whatever comes out of a file is untrusted text and goes through `names.safe` before a person sees it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outlive.rendering.page import Page

PUBLIC_MODULES = (
    "console", "diagnosis_bundle", "finding_text", "fleet_tables", "media.csv", "media.html", "media.json",
    "media.notebook", "media.overlay", "media.text", "page", "pages.blackbox", "pages.check", "pages.error",
    "pages.explain", "pages.report", "pages.watch", "picture", "plots.watch",
)  # fmt: skip


def page_of(result: Any) -> Page:
    """The page of a result, whatever its kind."""
    from importlib import import_module

    made: Page = import_module(f"outlive.rendering.pages.{result.kind}").page(result)
    return made
