"""Results kept from one probe to the next: by model, runtime, accelerator, inputs and machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from outlive.accelerators.nouns import Accelerator, Crossing, Death, Difference, Refusal, WhatIf
from outlive.accelerators.trying import Order
from outlive.accelerators.ways import Way
from outlive.cache import cache_folder, keep, recall
from outlive.model import Model

# What is kept is of no use to another version of this file.
_FORM = 1
_MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Where results of one model under one order are kept."""

    folder: Path
    key: str

    @classmethod
    def of(cls, model: Model, order: Order) -> Memory | None:
        """The memory for this model; None where results depend on arrays that somebody gave."""
        if order.inputs is not None and not isinstance(order.inputs, str):
            return None
        parts = [model.sha256, str(order.inputs), str(order.seed), str(order.limits)]
        return cls(folder=cache_folder("delegates"), key="|".join(parts))

    def recall(self, way: Way) -> Accelerator | None:
        """What was found out the last time; None if that was never, or if it cannot be read."""
        try:
            found = _accelerator(json.loads(recall(self._path(way), _MOST_BYTES)))
        except (ValueError, KeyError, TypeError):
            return None
        return replace(found, from_cache=True)

    def keep(self, way: Way, accelerator: Accelerator) -> None:
        """Keep a result; one that cannot be written is forgotten. What was not here may come: not kept."""
        if not accelerator.available:
            return
        try:
            body = json.dumps(asdict(replace(accelerator, flight=None, culprit=None)))
        except (ValueError, TypeError):
            return
        keep(self._path(way), body.encode())

    def _path(self, way: Way) -> Path:
        order = json.dumps(way.to_arguments(), sort_keys=True, default=repr)
        parts = [str(_FORM), self.key, way.name, order, _versions(way), platform.node(), str(os.cpu_count())]
        return self.folder / f"{hashlib.sha256('|'.join(parts).encode()).hexdigest()}.json"


def _versions(way: Way) -> str:
    """The versions of all that takes part; a library of the user's by its time and size."""
    found = []
    for package in ("outlive", "ai-edge-litert", "tensorflow", "tensorflow-cpu", "openvino", "ethos-u-vela"):
        try:
            found.append(f"{package}=={metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    for delegate in way.arguments.get("experimental_delegates", ()):
        try:
            status = os.stat(delegate.library)
            found.append(f"{delegate.library} {status.st_mtime_ns} {status.st_size}")
        except OSError:
            found.append(f"{delegate.library} absent")
    return " ".join(found)


def _accelerator(body: dict[str, Any]) -> Accelerator:
    death, difference, taken = body["death"], body["difference"], body["taken"]
    return Accelerator(
        **{
            **body,
            "death": None if death is None else Death(**death),
            "difference": None if difference is None else Difference(**difference),
            "taken": None if taken is None else tuple(taken),
            "refused": tuple(Refusal(**item) for item in body["refused"]),
            "crossings": tuple(Crossing(**item) for item in body["crossings"]),
            "notes": tuple(body["notes"]),
            "what_ifs": tuple(WhatIf(**item) for item in body["what_ifs"]),
            "agrees_with": tuple(body["agrees_with"]),
        }
    )
