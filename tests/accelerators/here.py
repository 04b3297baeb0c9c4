"""What this machine has of accelerators; tests that need more say by name what is missing."""

from __future__ import annotations

import importlib.util

import pytest

from outlive.interpreter.ladder import has_gpu, npu_way, software_driver

needs_gpu = pytest.mark.skipif(
    not has_gpu() and software_driver() is None,
    reason="needs a GPU or SwiftShader, which Debian's chromium brings: apt install chromium libvulkan1",
)
needs_openvino = pytest.mark.skipif(
    bool(npu_way("CPU").missing), reason=f"needs OpenVINO: {npu_way('CPU').install or npu_way('CPU').missing}"
)
needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="needs TensorFlow: pip install tensorflow-cpu"
)
