"""WHAT CAN WE TRY THINGS ON? Models of our own making, so that `outlive demo` needs no network.

::

    name ──► path ──► a .tflite file beside this one, written by tools/build_models.py

Nouns: a *demo model* has a name, a file, and a line that says what it is for.
"""

from dataclasses import dataclass
from pathlib import Path

__all__ = ["DEMO_MODELS", "NAMES", "DemoModel", "path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoModel:
    """One model that ships with the package."""

    name: str
    file: str
    what: str


def _demo(name: str, what: str) -> DemoModel:
    return DemoModel(name=name, file=f"{name}.tflite", what=what)


DEMO_MODELS = (
    _demo("healthy", "an image classifier in float32 that has nothing wrong with it"),
    _demo("healthy_int8", "its int8 twin, quantized after training"),
    _demo("deadly", "a classifier that kills the process that invokes it, with SIGSEGV in operator 3"),
    _demo("too_big", "34 KB in the file, more than 768 MiB while it runs"),
    _demo("wasteful", "a classifier that runs and carries every kind of waste a reader can see"),
)
NAMES = tuple(demo.name for demo in DEMO_MODELS)


def path(name: str) -> Path:
    """Where the demo model of that name lies."""
    if name not in NAMES:
        raise ValueError(f"unknown demo model {name!r}; choose from {', '.join(NAMES)}")
    return Path(__file__).parent / f"{name}.tflite"
