"""The operating system under a worker: the one place that chooses the platform (see CONTRIBUTING.md)."""

from .posix import memory_watchdog, own_process, sandbox, tensor_overlay

__all__ = ["memory_watchdog", "own_process", "sandbox", "tensor_overlay"]
