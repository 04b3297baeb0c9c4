"""Notebooks and consoles without a Jupyter server: `jupyter execute`, papermill, nbclient, `jupyter console`.

    jupyter execute, jupyter console ── read etc/jupyter/jupyter_{execute,console}_config.py ─┐
    papermill ── loads the entry point `papermill.engine` ────────────────────────────────────┤
    JUPYTER_DEFAULT_PROVISIONER_NAME=outlive-watched ── any program with nbclient ────────────┤
                                                                                              v
    kernels start under `watched_provisioner`; nbclient's DeadKernelError says why, the cell shows the card

Where a part is missing or fails, notebooks run as they do without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
import time
from typing import Any

from outlive.jupyter.watched_provisioner import NAME, WatchedProvisioner, watches

_LOCAL = "local-provisioner"
# The record is there a moment after the end; a machine that is short of memory may take longer.
_RECORD_S, _PAUSE_S = 60.0, 0.02


class RunnersProvisioner(WatchedProvisioner):
    """A watched kernel, of a server or of a program with nbclient, whose errors are to say why it died."""

    def _prepare(self, options: dict[str, Any]) -> dict[str, Any]:
        if "nbclient" in sys.modules:
            with contextlib.suppress(Exception):
                explain_deaths()
        return super()._prepare(options)


def watch_kernels(*, in_words: bool = False) -> None:
    """Watch the kernels that this process starts from now on; what fails leaves all as it was.

    With `in_words` a death is a line on standard error, for programs that say nothing of it themselves.
    """
    with contextlib.suppress(Exception):
        from jupyter_client.provisioning.factory import KernelProvisionerFactory

        factory = KernelProvisionerFactory.instance()
        if factory.default_provisioner_name == _LOCAL:  # another one has reasons of its own
            factory.default_provisioner_name = NAME
        if in_words:
            watches.on_death = _print_death


def explain_deaths() -> None:
    """Have nbclient's DeadKernelError say why the kernel died, and the cell show it."""
    from jupyter_core.utils import run_sync
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    client: Any = NotebookClient
    real = client.async_execute_cell
    if hasattr(real, "__wrapped__"):
        return

    @functools.wraps(real)
    async def async_execute_cell(self: Any, cell: Any, *args: Any, **options: Any) -> Any:
        kernel = getattr(self.km, "kernel_id", "")
        try:
            return await real(self, cell, *args, **options)
        except DeadKernelError as error:
            with contextlib.suppress(Exception):
                await _explain(error, cell, kernel)
            raise

    client.async_execute_cell = async_execute_cell
    # As nbclient/client.py makes it; papermill calls this one.
    client.execute_cell = run_sync(async_execute_cell)


async def _explain(error: Exception, cell: Any, kernel: str) -> None:
    """Add the cause to the error, and the card to the outputs of the cell that died."""
    from outlive.rendering import page_of
    from outlive.rendering.media.notebook import card_bundle
    from outlive.rendering.pages.blackbox import sentence
    from outlive.verbs.blackbox import blackbox

    end = time.monotonic() + _RECORD_S
    while watches.of(kernel) is not None and time.monotonic() < end:
        await asyncio.sleep(_PAUSE_S)
    death = next((one for one in blackbox("list") if kernel and one.record.kernel == kernel), None)
    if death is None:
        return
    error.args = (f"{error}. {sentence(death)}",)
    card = card_bundle(page_of(blackbox("show", death.record.name)))
    # A notebook's nodes are dictionaries with attributes (nbformat/notebooknode.py), which papermill reads.
    output = type(cell)({"output_type": "display_data", "data": type(cell)(card), "metadata": type(cell)()})
    cell.outputs.append(output)


def _print_death(name: str) -> None:
    from outlive.rendering.pages.blackbox import sentence
    from outlive.verbs.blackbox import blackbox

    (death,) = blackbox("show", name).deaths
    sys.stderr.write(f"\r\noutlive: {sentence(death)}\r\n")
    sys.stderr.flush()


def __getattr__(name: str) -> Any:
    """The engine, made when papermill asks for it: it does so while it is being loaded itself."""
    if name == "PapermillEngine":
        return _papermill_engine()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@functools.cache
def _papermill_engine() -> Any:
    """Papermill's own engine, with watched kernels; from now on its default, unless another was chosen."""
    from papermill.engines import NBClientEngine, papermill_engines

    class PapermillEngine(NBClientEngine):  # type: ignore[misc]
        @classmethod
        def execute_managed_notebook(cls, *args: Any, **options: Any) -> Any:
            watch_kernels()
            return super().execute_managed_notebook(*args, **options)

    if papermill_engines.get_engine() is NBClientEngine:
        papermill_engines.register(None, PapermillEngine)
    return PapermillEngine
