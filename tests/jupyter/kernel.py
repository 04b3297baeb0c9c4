"""A real Jupyter kernel, and what its cells say."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import start_new_async_kernel

from tests.deaths import scenes

# A busy machine is slow, not wrong.
_TIMEOUT_S = 300
# With it, ipykernel does not show what native code prints (ipykernel/iostream.py), as it does for users.
_NOT_INHERITED = ("PYTEST_CURRENT_TEST",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """How a cell ended: `error` is the exception's name, empty if there was none.

    `shown` has what was displayed, by media type, in order; the last is the cell's own value, if it has one.
    """

    error: str
    text: str
    shown: tuple[dict[str, Any], ...] = field(default=())

    def html(self) -> str:
        """All HTML that was shown."""
        return "".join(item.get("text/html", "") for item in self.shown)

    def plain(self) -> str:
        """All plain text that was shown."""
        return "\n".join(item.get("text/plain", "") for item in self.shown)


class Kernel:
    """A running kernel; the loop is ours, because the one of jupyter_client is never closed."""

    def __init__(self, **environment: str) -> None:
        self._loop = asyncio.new_event_loop()
        inherited = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
        starting = start_new_async_kernel(
            startup_timeout=_TIMEOUT_S, kernel_name="python3", env={**inherited, **environment}
        )
        self.manager, self.client = self._wait(starting)

    def _wait(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)

    @property
    def pid(self) -> int:
        return int(self.manager.provisioner.process.pid)

    @property
    def recorder(self) -> int:
        """The process that records this kernel, which has a tracer besides."""
        (found,) = (
            child
            for child in scenes.children(self.pid)
            if b"watch_kernel" in Path(f"/proc/{child}/cmdline").read_bytes()
        )
        return found

    def run(self, code: str, stop_when: Callable[[], object] | None = None, counted: bool = True) -> Cell:
        """Run a cell; press the button with the square as soon as something is so, if that is asked for."""
        said: list[str] = []
        shown: list[dict[str, Any]] = []

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                said.append(content["text"])
            elif message["msg_type"] == "error":
                said.extend(content["traceback"])
            elif message["msg_type"] in ("display_data", "execute_result"):
                shown.append(content["data"])

        async def both() -> Any:
            cell = self.client.execute_interactive(
                code, timeout=_TIMEOUT_S, output_hook=hear, store_history=counted
            )
            running = asyncio.ensure_future(cell)
            if stop_when is not None:
                while not stop_when():
                    await asyncio.sleep(0.01)
                await self.manager.interrupt_kernel()
            return await running

        reply = self._wait(both())
        return Cell(error=reply["content"].get("ename", ""), text="".join(said), shown=tuple(shown))

    def die(self, code: str) -> None:
        """Run a cell that ends the kernel, and wait until it has; nobody asks for the status before."""
        self.client.execute(code)
        self.wait_until_dead()

    def wait_until_dead(self) -> None:
        end = time.monotonic() + _TIMEOUT_S
        while _is_running(self.pid) and time.monotonic() < end:
            time.sleep(0.01)
        assert not _is_running(self.pid), "the kernel goes on"

    def restart(self, *, now: bool = False) -> None:
        """As the button does; with `now`, as it is done after a death."""
        self.client.stop_channels()
        self._wait(self.manager.restart_kernel(now=now))
        self.client = self.manager.client()
        self.client.start_channels()
        self._wait(self.client.wait_for_ready(timeout=_TIMEOUT_S))

    def shut_down(self) -> None:
        """As a notebook does that is closed: the kernel is asked to end."""
        self._wait(self.manager.shutdown_kernel(now=False))

    def kill(self) -> None:
        self._wait(self.manager.signal_kernel(9))

    def close(self) -> None:
        self.client.stop_channels()
        self._wait(self.manager.shutdown_kernel(now=True))
        self.manager.context.destroy()
        self._loop.close()


def _is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@contextlib.contextmanager
def started(**environment: str) -> Iterator[Kernel]:
    """A kernel of this Python."""
    kernel = Kernel(**environment)
    try:
        yield kernel
    finally:
        kernel.close()
