"""Which runtimes and companions are installed, found without importing any of them."""

import importlib.metadata
import importlib.util
import platform
from dataclasses import dataclass

from outlive.environment.machine_report import Check, State

RUNTIMES = "runtimes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package by the names it is sold under, the module it brings, and what it is for."""

    title: str
    distributions: tuple[str, ...]
    module: str
    gives: str
    without: str
    remedy: str


LITERT = Package(
    title="LiteRT",
    distributions=("ai-edge-litert", "ai-edge-litert-nightly"),
    module="ai_edge_litert",
    gives="runs models; the default runtime",
    without="models run only with another runtime, named with --runtime",
    remedy="pip install ai-edge-litert",
)
TENSORFLOW = Package(
    title="TensorFlow",
    distributions=("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tensorflow-intel", "tf-nightly"),
    module="tensorflow",
    gives="runs models with Flex operators too (--runtime tensorflow)",
    without="models with Flex operators cannot be run",
    remedy="pip install tensorflow-cpu",
)
TFLITE_RUNTIME = Package(
    title="tflite-runtime",
    distributions=("tflite-runtime", "tflite-runtime-nightly"),
    module="tflite_runtime",
    gives="runs models as older devices do (--runtime tflite_runtime)",
    without="behavior of this older runtime cannot be reproduced",
    remedy="pip install tflite-runtime  # Python 3.11 or older, numpy 1",
)
NUMPY = Package(
    title="numpy",
    distributions=("numpy",),
    module="numpy",
    gives="transfers tensors to and from workers",
    without="no model can be run",
    remedy="pip install numpy",
)
QUANTIZER = Package(
    title="ai-edge-quantizer",
    distributions=("ai-edge-quantizer", "ai-edge-quantizer-nightly"),
    module="ai_edge_quantizer",
    gives="quantizes models",
    without="models can be compared, but not quantized",
    remedy="pip install ai-edge-quantizer",
)
OPENVINO = Package(
    title="OpenVINO",
    distributions=("openvino",),
    module="openvino",
    gives="runs LiteRT's NPU path, on Intel hardware or on its CPU backend",
    without="only documents say which operators an Intel NPU takes",
    remedy="pip install openvino==2026.3.1  # the release that LiteRT's plugin was built for",
)


def find_version(package: Package) -> str | None:
    """Distribution and version of a package, by its metadata; None if no such thing is installed."""
    for name in package.distributions:
        try:
            return f"{name} {importlib.metadata.version(name)}"
        except Exception:  # not installed, or its metadata is damaged: the next name
            continue
    return None


def check_package(package: Package, version: str | None, is_there: bool, *, needed: bool = False) -> Check:
    """The row of one package: its version as found, and whether its files can be imported."""
    state, found, meaning, remedy = State.OK, version or "", package.gives, ""
    if not is_there:
        state, meaning, remedy = State.MISSING, package.without, package.remedy
        found = f"{version}, but its files are missing" if version else "not installed"
        if version:
            remedy = remedy.replace("install", "install --force-reinstall", 1)
    elif not version:
        state, found = State.LIMITED, "installed, version not known"
    return Check(
        group=RUNTIMES,
        name=package.title,
        state=state,
        found=found,
        meaning=meaning,
        remedy=remedy,
        needed=needed,
    )


def check_runtime(rows: tuple[Check, ...]) -> Check:
    """Whether there is any runtime at all, given the rows of all that there might be."""
    there = [row for row in rows if row.state is not State.MISSING]
    # There is no wheel of LiteRT for 32-bit Arm; the last tflite-runtime has one.
    package = TFLITE_RUNTIME if platform.machine().startswith("armv7") else LITERT
    return Check(
        group=RUNTIMES,
        name="a runtime",
        state=State.OK if there else State.MISSING,
        found=", ".join(row.name for row in there) or "none",
        meaning="models can be run"
        if there
        else "models can be read, planned and checked, but not run, diagnosed or compared",
        remedy="" if there else package.remedy,
        needed=True,
    )


def check_packages() -> tuple[Check, ...]:
    """All rows about packages, the runtimes first."""
    runtimes = tuple(map(_look, (LITERT, TENSORFLOW, TFLITE_RUNTIME)))
    others = (_look(NUMPY, needed=True), _look(QUANTIZER), _look(OPENVINO))
    return (check_runtime(runtimes), *runtimes, *others)


def _look(package: Package, needed: bool = False) -> Check:
    return check_package(package, find_version(package), _has_module(package.module), needed=needed)


def _has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, OSError):
        return False
