"""A real Jupyter kernel, and what its cells say."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jupyter_client.manager import start_new_async_kernel

_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """How a cell ended: `error` is the exception's name, empty if there was none."""

    error: str
    text: str


class Kernel:
    """A running kernel; the loop is ours, because the one of jupyter_client is never closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.manager, self.client = self._wait(start_new_async_kernel(kernel_name="python3"))

    def _wait(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)

    @property
    def pid(self) -> int:
        return int(self.manager.provisioner.process.pid)

    def run(self, code: str, stop_after_s: float | None = None) -> Cell:
        """Run a cell; press the button with the square a moment later, if that is asked for."""
        said: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                said.append(content["text"])
            elif message["msg_type"] == "error":
                said.extend(content["traceback"])

        async def both() -> Any:
            cell = self.client.execute_interactive(code, timeout=_TIMEOUT_S, output_hook=hear)
            running = asyncio.ensure_future(cell)
            if stop_after_s is not None:
                await asyncio.sleep(stop_after_s)
                await self.manager.interrupt_kernel()
            return await running

        reply = self._wait(both())
        return Cell(error=reply["content"].get("ename", ""), text="".join(said))

    def kill(self) -> None:
        self._wait(self.manager.signal_kernel(9))

    def close(self) -> None:
        self.client.stop_channels()
        self._wait(self.manager.shutdown_kernel(now=True))
        self.manager.context.destroy()
        self._loop.close()


@contextlib.contextmanager
def started() -> Iterator[Kernel]:
    """A kernel of this Python."""
    kernel = Kernel()
    try:
        yield kernel
    finally:
        kernel.close()
