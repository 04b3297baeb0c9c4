"""Starts kernels as Jupyter does, and has them watched.

The Jupyter server's extension makes it the default in the place of Jupyter's own, from which it derives.
Every part of the watch may fail: the kernel then starts, runs and ends as without it, and the log says why.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

NAME = "outlive-watched"
"""The name of its entry point."""


class KernelWatches:
    """The watches of this server, by the kernel's id, and what is to happen when a kernel dies."""

    def __init__(self) -> None:
        """No kernel yet."""
        self._watches: dict[str, Any] = {}
        self._protected: set[str] = set()
        self.on_death: Callable[[str], None] = lambda name: None

    def open(self, *, kernel: str, session: str, notebook: str, folder: str) -> Any:
        """A watch over a kernel that is about to start; None where recording is off."""
        about = {"kernel": kernel, "session": session, "notebook": notebook, "folder": folder}
        opened: list[Any] = []

        def ended(name: str) -> None:
            if opened and self._watches.get(kernel) is opened[0]:
                del self._watches[kernel]
            if name:
                self.on_death(name)

        from outlive.verbs.blackbox import watch_kernel  # if it cannot be loaded, this can

        watch = watch_kernel(about, ended)
        if watch is not None:
            opened.append(watch)
            self._watches[kernel] = watch
        return watch

    def launch_options(self, watch: Any, kernel: str, environment: dict[str, str]) -> dict[str, Any]:
        """What the kernel is to be started with; protected, if that was asked for, from now on."""
        options: dict[str, Any] = watch.launch_options(environment, protect=kernel in self._protected)
        return options

    def protect(self, kernel: str) -> None:
        """Start this kernel protected, the next time and every time after."""
        self._protected.add(kernel)

    def of(self, kernel: str) -> Any:
        """The watch over a kernel; None if it has none."""
        return self._watches.get(kernel)


watches = KernelWatches()


class WatchedProvisioner(LocalProvisioner):
    """A local kernel with a watch over it."""

    _watch: Any = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Add what the watch needs to what the kernel is started with."""
        options: dict[str, Any] = await super().pre_launch(**kwargs)
        try:
            return {**options, **self._prepare(options)}
        except Exception:
            self._give_up("cannot be watched")
            return options

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start the kernel, and the watch with it; without one, if it cannot be started like that."""
        try:
            connection = await super().launch_kernel(cmd, **kwargs)
        except Exception:
            if self._watch is None:
                raise
            self._give_up("cannot be started under watch")
            plain = {name: value for name, value in kwargs.items() if name not in ("stderr", "pass_fds")}
            return await super().launch_kernel(cmd, **plain)
        try:
            if self._watch is not None:
                self._watch.begin(self.process)
        except Exception:
            self._give_up("is not watched")
        return connection

    async def shutdown_requested(self, restart: bool = False) -> None:
        """The kernel is to end: its end is no death, unless a cell keeps it from ending."""
        await self._stop_requested(restart)
        await super().shutdown_requested(restart=restart)

    async def terminate(self, restart: bool = False) -> None:
        """The kernel is made to end."""
        await self._stop_requested(restart)
        await super().terminate(restart=restart)

    async def kill(self, restart: bool = False) -> None:
        """The kernel is made to end at once."""
        await self._stop_requested(restart)
        await super().kill(restart=restart)

    async def _stop_requested(self, restart: bool) -> None:
        try:
            if self._watch is not None:
                await asyncio.get_running_loop().run_in_executor(
                    None, lambda: self._watch.stop_requested(restart=restart)
                )
        except Exception:
            self.log.debug("outlive: the end of kernel %s is not noted", self.kernel_id, exc_info=True)

    def _prepare(self, options: dict[str, Any]) -> dict[str, Any]:
        environment = options.get("env") or dict(os.environ)
        self._watch = watches.open(
            kernel=self.kernel_id or "",
            session=getattr(self.parent, "connection_file", "") or "",
            notebook=environment.get("JPY_SESSION_NAME", ""),
            folder=str(options.get("cwd") or os.getcwd()),
        )
        if self._watch is None:
            return {}
        return watches.launch_options(self._watch, self.kernel_id or "", environment)

    def _give_up(self, words: str) -> None:
        """Say that this kernel has no watch, and leave nothing of it behind."""
        self.log.warning("outlive: kernel %s %s", self.kernel_id, words, exc_info=True)
        watch, self._watch = self._watch, None
        try:
            if watch is not None:
                watch.give_up()
        except Exception:
            self.log.debug("outlive: the watch left something behind", exc_info=True)
