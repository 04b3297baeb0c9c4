"""How each accelerator of CompiledModel is asked for on this machine, found by looking and not by loading.

GPU: the runtime's WebGPU accelerator, over Vulkan. Where the machine shows no GPU, a software Vulkan that a
browser ships is used if there is one; the worker's own report says what it ran on.
NPU: the runtime's plugin for Intel's OpenVINO, which wants one certain version of that library.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from outlive.names import safe_lines

_RUNTIME = "ai_edge_litert"
_GPU_LIBRARY = "libLiteRtWebGpuAccelerator.so"
_NPU_PLUGIN = "vendors/intel_openvino/dispatch/libLiteRtDispatch_IntelOpenvino.so"
_WANTED = re.compile(rb"libopenvino\.so\.\d+")
# A driver for Vulkan that needs no GPU; Chromium and Chrome bring it for WebGL.
_SOFTWARE_DRIVERS = (
    "usr/lib/chromium/vk_swiftshader_icd.json",
    "usr/lib/chromium-browser/vk_swiftshader_icd.json",
    "usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "opt/google/chrome/vk_swiftshader_icd.json",
    "opt/microsoft/msedge/vk_swiftshader_icd.json",
)
# By any of these a user tells the loader which driver to take: Vulkan-Loader, LoaderDriverInterface.md.
_DRIVER_VARIABLES = ("VK_ICD_FILENAMES", "VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES")
_GPU_DEVICES = ("dev/dri/renderD*", "dev/nvidia0", "dev/dxg", "dev/kgsl-3d0", "dev/mali0")
GPU_INSTALL = "install the GPU's Vulkan driver and libvulkan1; without a GPU: apt install chromium libvulkan1"
NO_ADAPTER = "there is no GPU here, and no software Vulkan either: it says that it finds no adapter"


class AcceleratorWarning(UserWarning):
    """An accelerator was left out, or left, and another one runs the model."""

    def __str__(self) -> str:
        """Which, and why; in a runtime's words there are names from a file, which are escaped."""
        return safe_lines(super().__str__())


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingAccelerator:
    """An accelerator that was asked for by name and is not here."""

    name: str
    missing: str
    install: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledWay:
    """How to ask for an accelerator; `missing` says what is not here, `install` what to do about it."""

    accelerators: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    missing: str = ""
    install: str = ""
    is_software: bool = False

    def to_order(self, options: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """The request to the worker; `options` are those of the user, by group."""
        groups = {**self.options}
        for group, fields in (options or {}).items():
            groups[group] = {**groups.get(group, {}), **fields}
        return {
            "accelerators": list(self.accelerators),
            "environment": dict(self.environment),
            "libraries": list(self.libraries),
            "options": {group: dict(fields) for group, fields in groups.items()},
        }


def cpu_way() -> CompiledWay:
    """The CPU through CompiledModel: XNNPACK with the flags that only it takes."""
    return CompiledWay(accelerators=("CPU",))


def gpu_way(root: Path = Path("/"), environment: Mapping[str, str] | None = None) -> CompiledWay:
    """The GPU, with the CPU for what it does not take."""
    known = os.environ if environment is None else environment
    folder = runtime_folder()
    if folder is None or not os.path.exists(folder / _GPU_LIBRARY):
        words = f"this build of the runtime has no GPU accelerator ({_GPU_LIBRARY})"
        return CompiledWay(
            accelerators=("GPU", "CPU"), missing=words, install="pip install -U ai-edge-litert"
        )
    chosen = {name: known[name] for name in _DRIVER_VARIABLES if name in known}
    driver = None if chosen or has_gpu(root) else software_driver(root)
    software = {} if driver is None else {"VK_ICD_FILENAMES": str(driver)}
    return CompiledWay(
        accelerators=("GPU", "CPU"), environment={**chosen, **software}, is_software=bool(software)
    )


def npu_way(backend: str = "") -> CompiledWay:
    """Intel's NPU through OpenVINO, with the CPU for what it does not take; `backend` may be CPU."""
    plain = CompiledWay(accelerators=("NPU", "CPU"))
    folder = runtime_folder()
    plugin = None if folder is None else folder / _NPU_PLUGIN
    if plugin is None or not os.path.exists(plugin):
        return replace(plain, missing="this build of the runtime has no plugin for OpenVINO")
    wanted = _WANTED.search(plugin.read_bytes())
    name = wanted.group().decode() if wanted else "libopenvino.so"
    install = (
        "pip install openvino==2026.3.1" if name.endswith(".2631") else f"install the OpenVINO of {name}"
    )
    found = importlib.util.find_spec("openvino")
    if found is None or not found.submodule_search_locations:
        return replace(plain, missing="OpenVINO is not installed", install=install)
    library = Path(next(iter(found.submodule_search_locations))) / "libs" / name
    if not os.path.exists(library):
        words = f"the runtime's plugin wants {name}, and the installed OpenVINO is another version"
        return replace(plain, missing=words, install=install)
    options = {"intel_openvino_options": {"graph_backend": backend}} if backend else {}
    return replace(plain, libraries=(str(library),), options=options)


def has_gpu(root: Path = Path("/")) -> bool:
    """True if the system shows a device that a GPU driver would use."""
    return any(next(iter(root.glob(pattern)), None) is not None for pattern in _GPU_DEVICES)


def software_driver(root: Path = Path("/")) -> Path | None:
    """A Vulkan driver that runs on the CPU; None if no browser has brought one."""
    return next((root / path for path in _SOFTWARE_DRIVERS if os.path.exists(root / path)), None)


def runtime_folder() -> Path | None:
    """Where the runtime's libraries are, found without loading it; None if it is not installed."""
    found = importlib.util.find_spec(_RUNTIME)
    places = found.submodule_search_locations if found is not None else None
    return Path(next(iter(places))) if places else None
