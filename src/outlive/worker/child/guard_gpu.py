"""Where there is an NVIDIA GPU, TensorFlow is told to take of its memory what it needs, and not all of it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import MutableMapping

# tensorflow/core/common_runtime/gpu/gpu_process_state.cc and the guide "Use a GPU": read when the first
# device is made.
_GROW = "TF_FORCE_GPU_ALLOW_GROWTH"


class GpuManners:
    """Asks NVML once whether there is a GPU, if `pynvml` is installed; otherwise there is nothing to do."""

    def __init__(self) -> None:
        """Nobody has been asked yet."""
        self._is_there: bool | None = None

    def apply(self, environment: MutableMapping[str, str]) -> None:
        """Have TensorFlow grow instead of grab, unless the user has said what it should do."""
        if self._is_there is None:
            self._is_there = _nvml_answers()
        if self._is_there:
            environment.setdefault(_GROW, "true")


def _nvml_answers() -> bool:
    if importlib.util.find_spec("pynvml") is None:
        return False
    try:
        nvml = importlib.import_module("pynvml")
        nvml.nvmlInit()
        try:
            return bool(nvml.nvmlDeviceGetCount() > 0)
        finally:
            nvml.nvmlShutdown()
    except Exception:  # no driver, no permission, another version: whatever it is, there is no GPU for us
        return False
