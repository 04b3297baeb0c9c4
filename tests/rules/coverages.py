"""Coverages as the cases of the rules on accelerators need them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from outlive.accelerators import Accelerator, Coverage, Crossing, OpRefusal
from outlive.accelerators.coverage import Difference

MIB = 1 << 20
RESHAPE = OpRefusal(
    op=2, type="RESHAPE", reason="Tensor dimensions must be less than 5. mid", source="its own report"
)


def tried(name: str, **fields: Any) -> Accelerator:
    """An accelerator that runs all of a model of four operators."""
    usual: dict[str, Any] = {
        "title": f"{name} as tried",
        "available": True,
        "compiles": True,
        "runs": True,
        "ops_total": 4,
        "ops_taken": 4,
        "taken": (0, 1, 2, 3),
        "partitions": 1,
        "milliseconds": 2.0,
        "peak_bytes": 3 * MIB,
    }
    return Accelerator(name=name, **{**usual, **fields})


def coverage(*others: Accelerator, **fields: Any) -> Coverage:
    """The kernels of the CPU, which all run and agree, and others."""
    plain = (tried("reference", milliseconds=9.0), tried("builtin", milliseconds=4.0), tried("xnnpack"))
    usual: dict[str, Any] = {
        "path": "m.tflite",
        "sha256": "0" * 64,
        "file_bytes": 1000,
        "runtime": {"runtime": "litert", "version": "2.3.0"},
        "op_types": ("CONV_2D", "ADD", "RESHAPE", "SOFTMAX"),
        "processors": 4,
    }
    return replace(Coverage(accelerators=(*plain, *others), **usual), **fields)


def gpu(**fields: Any) -> Accelerator:
    """A real GPU that runs everything, quickly."""
    return tried("gpu", **{"device": "Radeon", "milliseconds": 1.0, **fields})


def apart(largest: float, allowed: float = 0.05) -> Difference:
    return Difference(
        against="reference", largest=largest, mean=largest / 3, allowed=allowed, output="scores"
    )


def handed_over() -> tuple[Crossing, ...]:
    return (
        Crossing(tensor=3, name="mid", bytes=4 * MIB, into=False),
        Crossing(tensor=4, name="back", bytes=2 * MIB, into=True),
    )
