"""The Jupyter server's part: watches every kernel, tells browsers of deaths at once, answers for records.

    jupyter server ── loads ──> this ──> kernels start under `watched_provisioner`
                                  ├─ which cell was asked for: messages between browser and kernel
                                  ├─ a death ──> event "kernel_death" to every browser, a line in the log
                                  └─ /outlive/deaths, /outlive/deaths/NAME, /outlive/kernels/ID/...

Without the extension, or if any part of it fails, kernels start as Jupyter starts them.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import Any

from jupyter_client.provisioning.factory import KernelProvisionerFactory

from outlive.jupyter import death_handlers
from outlive.jupyter.watched_provisioner import NAME, watches
from outlive.verbs.blackbox import blackbox

EVENT = "https://outlive.invalid/jupyter/kernel_death"
_SCHEMA = {
    "$id": EVENT,
    "version": "1",
    "title": "Death of a kernel",
    "description": "A kernel died, or a cell hung until the kernel was restarted.",
    "type": "object",
    "properties": {"death": {"type": "object"}},
    "required": ["death"],
}
_LOCAL = "local-provisioner"


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "outlive.jupyter.server_extension"}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Watch kernels from now on."""
    settings = server.web_app.settings
    server.web_app.add_handlers(".*$", death_handlers.handlers(settings["base_url"], watches))
    _tell_of_deaths(server)
    real = settings.get("kernel_websocket_connection_class")
    if real is not None:
        settings["kernel_websocket_connection_class"] = listening(real)
    factory = KernelProvisionerFactory.instance(parent=server)
    if factory.default_provisioner_name == _LOCAL:  # another one has reasons of its own
        factory.default_provisioner_name = NAME


def _tell_of_deaths(server: Any) -> None:
    """Have a death told to every browser that listens, and in one line of the server's log."""
    server.event_logger.register_event_schema(_SCHEMA)

    def tell(name: str) -> None:
        (found,) = blackbox("show", name).deaths
        death = death_handlers.summary(found)
        server.log.error("%s", death["sentence"])
        server.event_logger.emit(schema_id=EVENT, data={"death": death})

    # The watch is another thread.
    watches.on_death = lambda name: server.io_loop.add_callback(tell, name)


def listening(real: Any) -> Any:
    """The class of connections between browser and kernel, which now also tells the watch of requests."""

    class ListeningConnection(real):  # type: ignore[misc]
        def handle_incoming_message(self, incoming_msg: Any) -> None:
            with contextlib.suppress(Exception):
                _hear_request(self.kernel_id, incoming_msg)
            super().handle_incoming_message(incoming_msg)

        def handle_outgoing_message(self, stream: Any, outgoing_msg: Any) -> None:
            with contextlib.suppress(Exception):
                _hear_reply(self.kernel_id, outgoing_msg)
            super().handle_outgoing_message(stream, outgoing_msg)

    return ListeningConnection


def _hear_request(kernel: str, message: Any) -> None:
    """Note a request to run a cell; JSON, or the parts of a message with their offsets before them."""
    watch = watches.of(kernel)
    raw = message.encode() if isinstance(message, str) else bytes(message)
    if watch is None or b"execute_request" not in raw:
        return
    if isinstance(message, str):
        whole = json.loads(message)
        header, metadata, content = (whole[name] for name in ("header", "metadata", "content"))
    else:
        # v1.kernel.websocket.jupyter.org: channel, header, parent, metadata, content (jupyter_server).
        count = int.from_bytes(raw[:8], "little")
        ends = [int.from_bytes(raw[8 * place : 8 * place + 8], "little") for place in range(1, count + 1)]
        parts = [raw[start:end] for start, end in itertools.pairwise(ends)]
        header, metadata, content = (json.loads(parts[place]) for place in (1, 3, 4))
    # What is run without being seen, by front ends, is no cell.
    if header["msg_type"] == "execute_request" and not content.get("silent"):
        watch.cell_requested(header["msg_id"], content["code"], str(metadata.get("cellId") or ""))


def _hear_reply(kernel: str, parts: list[Any]) -> None:
    """Note that a cell has ended: identities, a delimiter, signature, header, parent, metadata, content."""
    watch = watches.of(kernel)
    start = parts.index(b"<IDS|MSG>") + 2 if watch is not None else -1
    if start < 0 or b"execute_reply" not in bytes(parts[start]):
        return
    parent, content = json.loads(bytes(parts[start + 1])), json.loads(bytes(parts[start + 3]))
    number = content.get("execution_count")
    watch.cell_ended(parent["msg_id"], number if isinstance(number, int) else None)
