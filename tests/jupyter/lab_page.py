"""A notebook in a real JupyterLab, in a real Chromium: cells that are run as users run them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.jupyter.jupyter_server import TIMEOUT_S, JupyterServer, wait_for


class LabPage:
    """One notebook, open in a browser."""

    def __init__(self, server: JupyterServer, page: Any, name: str, kernel_name: str) -> None:
        self.server, self.page, self.name = server, page, name
        self.said: list[str] = []
        # Jupyter has errors of its own when a kernel dies; ours name our files.
        page.on("pageerror", lambda error: self._hear(str(getattr(error, "stack", "") or error)))
        self._kernel_name = kernel_name

    def _hear(self, error: str) -> None:
        if "outlive" in error:
            self.said.append(error)

    def open(self, sources: list[str], address: str = "lab/tree") -> None:
        """Write a notebook with these cells, and open it."""
        cells: list[dict[str, Any]] = [
            {"cell_type": "code", "id": f"c{place}", "execution_count": None, "metadata": {},
             "outputs": [], "source": source}
            for place, source in enumerate(sources)
        ]  # fmt: skip
        spec = {"name": self._kernel_name, "display_name": self._kernel_name, "language": "python"}
        content = {"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}
        (self.server.root / self.name).write_text(json.dumps(content))
        self.page.goto(f"{self.server.url}{address}/{self.name}?token={self.server.token}&reset")
        self.page.locator(".jp-Notebook .jp-CodeCell").nth(len(sources) - 1).wait_for()
        # The session is there once it has a kernel; its first heartbeat is not waited for.
        wait_for(lambda: self.kernel() is not None, self.server.log)

    def kernel(self) -> str | None:
        """The id of the notebook's kernel."""
        sessions = self.server.ask("api/sessions")
        found = [one["kernel"]["id"] for one in sessions if one["path"].endswith(self.name) and one["kernel"]]
        return found[0] if found else None

    def state(self) -> str:
        """What the server says that the kernel does."""
        state: str = self.server.ask(f"api/kernels/{self.kernel()}")["execution_state"]
        return state

    def cell(self, number: int) -> Any:
        """A cell by its place, from 0."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def run(self, number: int) -> None:
        """Click into a cell and press Shift and Enter."""
        self.cell(number).locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")

    def wait_for_prompt(self, number: int, text: str) -> None:
        """Wait until a cell has run and has this number."""
        self.cell(number).locator(".jp-InputPrompt", has_text=text).wait_for()

    def card(self) -> Any:
        """The card of a death, once it is there."""
        card = self.page.locator(".outlive-death")
        card.wait_for()
        return card

    def dialog(self) -> Any:
        """Jupyter's own dialog about a kernel that died."""
        dialog = self.page.locator(".jp-Dialog")
        dialog.wait_for()
        return dialog

    def accept_dialog(self) -> None:
        self.page.locator(".jp-Dialog button.jp-mod-accept").click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")

    def restart(self) -> None:
        """Press the button that restarts the kernel, and say yes."""
        self.page.locator(
            "[data-command='notebook:restart-kernel'], [title*='Restart the kernel']"
        ).first.click()
        self.accept_dialog()

    def close(self) -> None:
        """End the notebook's session, kernel and all."""
        for session in self.server.ask("api/sessions"):
            if session["path"].endswith(self.name):
                self.server.ask(f"api/sessions/{session['id']}", method="DELETE")


@contextmanager
def notebook(
    server: JupyterServer,
    browser: Any,
    sources: list[str],
    *,
    kernel: str = "python3",
    address: str = "lab/tree",
    scheme: str = "light",
    name: str = "",
) -> Iterator[LabPage]:
    """A notebook with these cells in JupyterLab; its kernel is ended with it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(1000 * TIMEOUT_S)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab = LabPage(server, context.new_page(), name or f"{uuid.uuid4().hex[:8]}.ipynb", kernel)
    try:
        lab.open(sources, address)
        yield lab
    finally:
        lab.close()
        context.close()
