"""Kernels that die, and what the next one says: `python benchmarks/kernel_deaths.py [--times N]`.

A real Jupyter kernel with `%load_ext outlive` is killed in each of six ways, ten times, and started again as
a notebook does after a death. Is the card there, and does it name what happened and the cell?
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from jupyter_client.manager import start_new_async_kernel
from side_by_side import Claim, write_results

from outlive.meter import make_cgroup

PACKAGES = ("outlive", "ipykernel", "ipython", "jupyter-client")
TIMEOUT_S = 120
_LOAD = "%load_ext outlive"
# What ends the kernel, and the rule that has to say so.
WAYS = {
    "SIGSEGV": ("import faulthandler\nfaulthandler._sigsegv()", "D504"),
    "SIGABRT": ("import os\nos.abort()", "D505"),
    "SIGFPE": ("import faulthandler\nfaulthandler._sigfpe()", "D506"),
    "SIGKILL": ("import os\nos.kill(os.getpid(), 9)", "D508"),
    "os._exit": ("import os\nos._exit(7)", "D509"),
    "out of memory": ("kept = []\nwhile True:\n    kept.append(bytearray(b'x') * 20_000_000)", "D501"),
}
_LIMIT_BYTES = 400_000_000
_CELL_S = 5
_CELL = re.compile(r"the kernel died in cell \[\d+\]")


class Notebook:
    """A kernel that is started again after each death."""

    def __init__(self, shelf: str) -> None:
        """Start it."""
        self._loop = asyncio.new_event_loop()
        environment = {**os.environ, "OUTLIVE_BLACKBOX_DIR": shelf}
        starting = start_new_async_kernel(
            startup_timeout=TIMEOUT_S, kernel_name="python3", env=environment, stderr=subprocess.DEVNULL
        )
        self._manager: Any
        self._manager, self._client = self._loop.run_until_complete(starting)

    @property
    def pid(self) -> int:
        """The kernel's process."""
        return int(self._manager.provisioner.process.pid)

    def run(self, code: str) -> str:
        """Run a cell; the plain text it showed."""
        shown: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            if message["msg_type"] == "display_data":
                shown.append(message["content"]["data"].get("text/plain", ""))

        work = self._client.execute_interactive(code, timeout=TIMEOUT_S, output_hook=hear)
        self._loop.run_until_complete(work)
        return "\n".join(shown)

    def die(self, code: str) -> None:
        """Run a cell that ends the kernel, and start it again."""
        self._client.execute(code)
        end = time.monotonic() + TIMEOUT_S
        while _is_running(self.pid) and time.monotonic() < end:
            time.sleep(0.01)
        self._client.stop_channels()
        self._loop.run_until_complete(self._manager.restart_kernel(now=True))
        self._client = self._manager.client()
        self._client.start_channels()
        self._loop.run_until_complete(self._client.wait_for_ready(timeout=TIMEOUT_S))

    def close(self) -> None:
        """End it."""
        self._client.stop_channels()
        self._loop.run_until_complete(self._manager.shutdown_kernel(now=True))
        self._loop.close()


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def explained(notebook: Notebook, code: str, rule: str) -> bool | None:
    """Whether the next kernel says what ended this one; None where it cannot be tried."""
    cgroup = make_cgroup(_LIMIT_BYTES) if rule == "D501" else None
    if rule == "D501" and cgroup is None:
        return None
    try:
        if cgroup is not None:
            cgroup.add(notebook.pid)
        notebook.run(_LOAD)
        notebook.die(code)
        said = notebook.run(_LOAD)
    finally:
        if cgroup is not None:
            cgroup.close()
    notebook.run("%unload_ext outlive")
    return f"error[{rule}]" in said and _CELL.search(said) is not None


def recorder_share(notebook: Notebook) -> float:
    """The share of one core that a recorder takes while a cell runs."""
    notebook.run(_LOAD)
    lists = Path(f"/proc/{notebook.pid}/task").glob("*/children")
    children = [word for path in lists for word in path.read_text().split()]
    (recorder,) = (one for one in children if b"watch_kernel" in Path(f"/proc/{one}/cmdline").read_bytes())
    schedule = Path(f"/proc/{recorder}/schedstat")
    before_ns, start_ns = int(schedule.read_text().split()[0]), time.monotonic_ns()
    notebook.run(f"import time; time.sleep({_CELL_S})")
    share = (int(schedule.read_text().split()[0]) - before_ns) / (time.monotonic_ns() - start_ns)
    notebook.run("%unload_ext outlive")
    return share


def main() -> int:
    """Let kernels die, print a line for each way, write the results; 1 if one was not explained."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--times", type=int, default=10, help="deaths of each kind; other than 10 writes nothing"
    )
    times = parser.parse_args().times
    found: dict[str, list[bool]] = {}
    with tempfile.TemporaryDirectory() as shelf:
        notebook = Notebook(shelf)
        try:
            share = recorder_share(notebook)
            for name, (code, rule) in WAYS.items():
                told = [explained(notebook, code, rule) for _ in range(times)]
                found[name] = [one for one in told if one is not None]
                print(f"{name:14} {sum(found[name])} of {len(found[name])} explained", flush=True)
        finally:
            notebook.close()
    claims = [
        Claim(
            text=f"kernels ended by {name}: share that the next kernel explained",
            ratio=sum(rows) / len(rows),
            bound=1,
            at_least=True,
        )
        for name, rows in found.items()
        if rows
    ]
    claims.append(
        Claim(text="share of a core that the recorder takes while a cell runs", ratio=share, bound=0.05)
    )
    print(*claims, sep="\n")
    if times == 10:
        counts = {name: {"deaths": len(rows), "explained": sum(rows)} for name, rows in found.items()}
        print(f"written to {write_results('kernel_deaths', PACKAGES, claims, {'ways': counts})}")
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
