"""The cost of watching a kernel, for a Jupyter server and a cell: `python benchmarks/kernel_watch.py`.

Two real kernels, one started under the watch of `outlive[jupyter]`, one as Jupyter starts it. The watch is a
thread of this process and a tracer beside the kernel: what both take of a core while the kernel is idle is
its cost.
A cell of 100 ms is run in both by turns.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import psutil
from jupyter_client.manager import AsyncKernelManager
from side_by_side import Claim, write_results

from outlive.jupyter.watched_provisioner import NAME

PACKAGES = ("outlive", "ipykernel", "ipython", "jupyter-client")
_IDLE_S, _CELLS, _TIMEOUT_S = 20, 60, 120
# About 100 ms, computed: what the watch takes of a core is taken from it.
_CELL = "for _ in range(4):\n    sum(range(2_000_000))"


async def started(provisioner: str, folder: str) -> tuple[Any, Any]:
    """A kernel under this provisioner, and a client of it."""
    from jupyter_client.provisioning.factory import KernelProvisionerFactory

    KernelProvisionerFactory.instance().default_provisioner_name = provisioner
    manager = AsyncKernelManager(kernel_name="python3")
    await manager.start_kernel(cwd=folder)
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=_TIMEOUT_S)
    return manager, client


async def seconds_of(client: Any, code: str) -> float:
    """How long a cell takes, from its request to its reply."""
    begun = time.perf_counter()
    await client.execute_interactive(code, timeout=_TIMEOUT_S, output_hook=lambda _: None)
    return time.perf_counter() - begun


def watch_seconds() -> float:
    """The processor time of this process, and of the tracer, which must be there."""
    (tracer,) = (child for child in psutil.Process().children() if child.name() == "outlive-tracer")
    times = tracer.cpu_times()
    return time.process_time() + float(times.user + times.system)


async def measured(folder: str) -> tuple[float, float]:
    """The share of a core that the watch takes, and the time of a cell under watch, as a ratio."""
    plain_manager, plain = await started("local-provisioner", folder)
    watched_manager, watched = await started(NAME, folder)
    try:
        await asyncio.sleep(2)  # the start is over
        before = watch_seconds()
        await asyncio.sleep(_IDLE_S)
        share = (watch_seconds() - before) / _IDLE_S
        times: dict[Any, list[float]] = {plain: [], watched: []}
        for count in range(_CELLS):
            for client in (plain, watched) if count % 2 else (watched, plain):
                times[client].append(await seconds_of(client, _CELL))
        ratio = statistics.median(times[watched]) / statistics.median(times[plain])
    finally:
        for manager, client in ((plain_manager, plain), (watched_manager, watched)):
            client.stop_channels()
            await manager.shutdown_kernel(now=True)
    return share, ratio


def main() -> int:
    """Measure, print, and write the results; 1 if a claim does not hold."""
    with tempfile.TemporaryDirectory() as folder:
        share, ratio = asyncio.run(measured(folder))
    claims = [
        Claim(text="share of a core that the watch over an idle kernel takes", ratio=share, bound=0.005),
        Claim(text="time of a cell of 100 ms under watch, against without", ratio=ratio, bound=1.02),
    ]
    print(*claims, sep="\n")
    # Both sides share the machine with whatever else runs.
    conditions = {"load_average": [round(load, 1) for load in os.getloadavg()]}
    if all(claim.holds for claim in claims):
        print(f"written to {write_results('kernel_watch', PACKAGES, claims, conditions)}")
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
