"""Offsets a file carries from a planner that ran before: metadata `OfflineMemoryAllocation`.

Source: tensorflow/lite/micro/micro_allocation_info.cc (GetOfflinePlannedOffsets).
"""

from __future__ import annotations

import struct

from outlive.kernels.tflm.context import RefusedError
from outlive.model import Model

NAME = "OfflineMemoryAllocation"
_HEADER_WORDS = 3  # version, subgraph, number of tensors
ONLINE = -1


def offline_offsets(model: Model) -> tuple[int, ...] | None:
    """One offset for each tensor of all subgraphs, -1 where the planner is to choose; None without a plan."""
    found = None
    for entry in model.metadata:
        if entry.name == NAME:
            found = _read(model, entry.data)
    return found


def _read(model: Model, data: memoryview | None) -> tuple[int, ...]:
    if data is None or data.nbytes < 4 * _HEADER_WORDS:
        raise RefusedError(f"its metadata {NAME} has no plan in it")
    tensors = sum(len(subgraph.tensors) for subgraph in model.subgraphs)
    (planned,) = struct.unpack_from("<i", data, 8)
    if planned != tensors:
        raise RefusedError(f"its offline plan is for {planned} tensors, the model has {tensors}")
    if data.nbytes < 4 * (_HEADER_WORDS + tensors):
        raise RefusedError("its offline plan is cut short")
    return struct.unpack_from(f"<{tensors}i", data, 4 * _HEADER_WORDS)
