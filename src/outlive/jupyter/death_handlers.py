"""What a browser may ask the Jupyter server: earlier deaths, one in full, a kernel's memory, protection.

For users of that server only. Names of records are compared with those that exist, never made into paths.
"""

from __future__ import annotations

import json
from typing import Any

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from outlive.rendering import page_of
from outlive.rendering.media.html import render_html
from outlive.rendering.media.json import document_of
from outlive.rendering.media.notebook import card_bundle
from outlive.rendering.pages.blackbox import sentence
from outlive.verbs.blackbox import blackbox

_NAME, _KERNEL = r"(?P<name>[0-9A-Za-z-]{1,80})", r"(?P<kernel>[0-9A-Fa-f-]{1,64})"


def handlers(base_url: str, watches: Any) -> list[tuple[str, Any, dict[str, Any]]]:
    """The addresses, and what answers for each."""
    given = {"watches": watches}
    return [
        (url_path_join(base_url, "outlive", "deaths"), DeathsHandler, given),
        (url_path_join(base_url, "outlive", "deaths", _NAME), DeathHandler, given),
        (url_path_join(base_url, "outlive", "kernels", _KERNEL, "memory"), MemoryHandler, given),
        (url_path_join(base_url, "outlive", "kernels", _KERNEL, "protect"), ProtectHandler, given),
    ]


def summary(death: Any) -> dict[str, Any]:
    """A death in a few words, and what a notebook needs to find its cell."""
    record = death.record
    return {
        "name": record.name,
        "kernel": record.kernel,
        "cell": record.cell_id,
        "message": record.cell_message,
        "number": record.cell_number,
        "notebook": record.notebook,
        "ended": record.ended,
        "code": death.finding.code,
        "hung": record.restarted,
        "sentence": sentence(death),
    }


class _Handler(APIHandler):
    """Answers in JSON."""

    auth_resource = "kernels"

    def initialize(self, watches: Any) -> None:
        self._watches = watches

    def _answer(self, content: Any) -> None:
        self.finish(json.dumps(content))

    def _watch(self, kernel: str) -> Any:
        watch = self._watches.of(kernel)
        if watch is None:
            raise web.HTTPError(404, "no such kernel is watched")
        return watch


class DeathsHandler(_Handler):
    """All deaths that are kept, the newest first."""

    @web.authenticated
    def get(self) -> None:
        """The list."""
        self._answer({"deaths": [summary(death) for death in blackbox("list")]})


class DeathHandler(_Handler):
    """One death in full."""

    @web.authenticated
    def get(self, name: str) -> None:
        """Its document, a card as HTML and as text, and the whole page."""
        found = next((death for death in blackbox("list") if death.record.name == name), None)
        if found is None:
            raise web.HTTPError(404, "there is no such record")
        shown = blackbox("show", name)
        page, document = page_of(shown), document_of(found)
        card = card_bundle(page)
        self._answer(
            {
                **summary(found),
                "document": document,
                "html": card["text/html"],
                "text": card["text/plain"],
                "page": render_html(page, document),
            }
        )


class MemoryHandler(_Handler):
    """What a kernel holds now, and what it may have."""

    @web.authenticated
    def get(self, kernel: str) -> None:
        """Both in bytes."""
        self._answer(self._watch(kernel).memory())


class ProtectHandler(_Handler):
    """A kernel that is to be protected from its next start on."""

    @web.authenticated
    def post(self, kernel: str) -> None:
        """Take note; the browser then restarts it."""
        self._watch(kernel)
        self._watches.protect(kernel)
        self.set_status(204)
        self.finish()
