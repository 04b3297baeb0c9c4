"""A real Jupyter server in a process of its own; kernels and cells as browsers have them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TIMEOUT_S = 180  # a busy machine is slow, not wrong
_AGAIN_S = 20
_TOKEN = "a-token-for-tests"


class JupyterServer:
    """The server; `root` is the folder of its notebooks, `records` that of the records of deaths."""

    def __init__(
        self,
        folder: Path,
        *,
        application: str = "jupyterlab",
        words: str = "",
        stdin: int = subprocess.DEVNULL,
        **environment: str,
    ) -> None:
        self.root, self.records = folder / "notebooks", folder / "records"
        self.root.mkdir()
        self._log = (folder / "server.log").open("w+b")
        self._runtime = folder / "runtime"
        inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        folders = {
            "JUPYTER_RUNTIME_DIR": str(self._runtime),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "IPYTHONDIR": str(folder / "ipython"),
            "OUTLIVE_BLACKBOX_DIR": str(self.records),
        }
        given = [f"--ServerApp.root_dir={self.root}", f"--IdentityProvider.token={_TOKEN}", "--port=0"]
        given += ["--no-browser", "--allow-root", "--ServerApp.port_retries=0"]
        given += [
            "--AsyncIOLoopKernelRestarter.restart_limit=1000",  # by default, Jupyter gives up after five
            "--LabApp.news_url=",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ]
        self.process = subprocess.Popen(
            [sys.executable, "-m", application, *given, *words.split()],
            env={**inherited, **folders, **environment},
            stdin=stdin,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            cwd=self.root,
        )
        self.url, self.token = self._wait_for_address(), _TOKEN

    def _wait_for_address(self) -> str:
        path = self._runtime / f"jpserver-{self.process.pid}.json"
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log()
            with contextlib.suppress(OSError, ValueError):
                url: str = json.loads(path.read_text())["url"]
                urllib.request.urlopen(f"{url}api?token={_TOKEN}", timeout=TIMEOUT_S).close()
                return url
            time.sleep(0.05)
        raise AssertionError(self.log())

    def log(self) -> str:
        """All that the server has said."""
        return Path(self._log.name).read_text(errors="replace")

    def ask(self, path: str, *, method: str = "GET", body: Any = None, token: str | None = _TOKEN) -> Any:
        """The server's answer: JSON, None if it is empty, the status as a number if it refuses."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={} if token is None else {"Authorization": f"token {token}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                text = answer.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def start_kernel(self, name: str = "python3") -> str:
        """A new kernel's id."""
        kernel: str = self.ask("api/kernels", method="POST", body={"name": name})["id"]
        return kernel

    def deaths(self) -> list[dict[str, Any]]:
        """All deaths, the newest first."""
        found: list[dict[str, Any]] = self.ask("outlive/deaths")["deaths"]
        return found

    def wait_for_death(self, kernel: str, count: int = 1) -> dict[str, Any]:
        """The newest death of a kernel, once there are so many of it."""

        def of_kernel() -> list[dict[str, Any]]:
            return [death for death in self.deaths() if death["kernel"] == kernel]

        wait_for(lambda: len(of_kernel()) >= count, self.log)
        return of_kernel()[0]

    def close(self) -> None:
        """End its kernels, then the server, which cannot be asked to while a kernel starts again."""
        with contextlib.suppress(Exception):
            for kernel in self.ask("api/kernels"):
                self.ask(f"api/kernels/{kernel['id']}", method="DELETE")
        self.process.kill()
        self.process.wait()
        self._log.close()


def wait_for(condition: Callable[[], Any], complaint: Callable[[], str] = str) -> None:
    """Wait until something is true."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end, complaint()
        time.sleep(0.05)


@contextlib.contextmanager
def serving(folder: Path, **options: Any) -> Iterator[JupyterServer]:
    """A server, from its start to its end."""
    server = JupyterServer(folder, **options)
    try:
        yield server
    finally:
        server.close()


def kernel_spec(server: JupyterServer, name: str, argv: list[str]) -> str:
    """Another kernel for the server; its name."""
    folder = server.root.parent / "data" / "kernels" / name
    folder.mkdir(parents=True)
    spec = {"argv": [*argv, "-f", "{connection_file}"], "display_name": name, "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    return name


def run_cell(
    server: JupyterServer, kernel: str, source: str, *, wait: bool = True, patience_s: float = TIMEOUT_S
) -> list[dict[str, Any]]:
    """Have a kernel run a cell, through the server's websocket; the messages about it, up to its end.

    Without `wait` nothing is waited for but that the cell has begun. TimeoutError if nothing was
    heard for as long as there is patience.
    """
    return asyncio.run(_run_cell(server, kernel, source, wait, patience_s))


def streamed(said: list[dict[str, Any]]) -> str:
    """What a cell has printed."""
    return "".join(one["content"]["text"] for one in said if one["msg_type"] == "stream")


def pid_of(server: JupyterServer, kernel: str, before: int = 0) -> int:
    """The kernel's process; after a death, that of the new kernel, once it answers.

    What is sent while a kernel starts again is lost, and its answer never comes: so it is sent again.
    """
    found: list[int] = []

    def has_answered() -> bool:
        with contextlib.suppress(asyncio.TimeoutError, ValueError):
            said = run_cell(server, kernel, "import os; print(os.getpid())", patience_s=_AGAIN_S)
            found.append(int(streamed(said)))
        return bool(found) and found[-1] != before

    wait_for(has_answered, server.log)
    return found[-1]


async def _run_cell(
    server: JupyterServer, kernel: str, source: str, wait: bool, patience_s: float
) -> list[dict[str, Any]]:
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    url = server.url.replace("http", "ws", 1) + f"api/kernels/{kernel}/channels"
    connection = await websocket_connect(
        HTTPRequest(url, headers={"Authorization": f"token {server.token}"}, request_timeout=TIMEOUT_S)
    )
    name = uuid.uuid4().hex
    header = {"msg_id": name, "msg_type": "execute_request", "session": name, "version": "5.3"}
    content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
    metadata = {"cellId": f"cell-{name[:8]}"}
    message = {"header": header, "parent_header": {}, "metadata": metadata, "content": content}
    await connection.write_message(json.dumps({**message, "channel": "shell", "buffers": []}))
    seen: list[dict[str, Any]] = []
    # The reply and "idle" come by different ways; the input comes back when the cell begins.
    ends = {"execute_reply", "idle"} if wait else {"execute_input"}
    try:
        while ends:
            text = await asyncio.wait_for(connection.read_message(), patience_s)
            assert text is not None, server.log()
            heard = json.loads(text)
            state = heard["content"].get("execution_state")
            if state in ("restarting", "dead"):
                break
            if heard["parent_header"].get("msg_id") == name:
                seen.append(heard)
                ends -= {heard["msg_type"], state}
        if not wait:
            await asyncio.sleep(0.5)
    finally:
        connection.close()
        while await asyncio.wait_for(connection.read_message(), TIMEOUT_S) is not None:
            pass  # until the other side has closed it too
    return seen


def watched(server: JupyterServer) -> set[int]:
    """The kernels with an open watch; a folder's name may be used again within a second."""
    found = set()
    for path in server.records.glob("*.open/*.json"):
        with contextlib.suppress(OSError, ValueError):  # it goes just now
            found.add(json.loads(path.read_text())["pid"])
    return found
