"""Plans made by hand, for what looks at plans and makes none: three operators, five tensors, one arena."""

from __future__ import annotations

from typing import Any

from outlive.arena.plan import OpLoad, Part, Placement, Plan, Refusal

KIB = 1024
MIB = 1024 * KIB


def place(
    tensor: int, offset: int, size: int, first: int, last: int, name: str = "", **more: Any
) -> Placement:
    """A tensor in the arena."""
    return Placement(
        tensor=tensor,
        name=name or f"t{tensor}",
        offset_bytes=offset,
        size_bytes=size,
        first_op=first,
        last_op=last,
        **more,
    )


PLACES = (
    place(0, 0, 4 * MIB, -1, 0, "image"),
    place(1, 4 * MIB, 16 * MIB, 0, 1, "wide"),
    place(2, 20 * MIB, 8 * MIB, 1, 2, "narrow"),
    place(3, 0, 1 * MIB, 2, 3, "answer"),
    place(4, 0, 64 * KIB, -1, 3, "state", persistent=True),
)
OPS = (
    OpLoad(index=0, type="CONV_2D", name="wide", live_bytes=20 * MIB),
    OpLoad(index=1, type="ADD", name="narrow", live_bytes=24 * MIB),
    OpLoad(index=2, type="MEAN", name="answer", live_bytes=9 * MIB),
)
PARTS = (
    Part(name="arena", bytes=28 * MIB, source="the runtime's planner"),
    Part(name="variables", bytes=64 * KIB, source="the runtime's planner"),
    Part(name="structures", bytes=100 * KIB, source="counted", exact=False),
)


def sketch(**changes: Any) -> Plan:
    """A plan with builtin kernels: 28 MiB of arena, 28.2 MiB at most, a file of 2 MiB."""
    peak = 28 * MIB + 64 * KIB + 100 * KIB
    usual: dict[str, Any] = {
        "path": "m.tflite",
        "sha256": "ab" * 32,
        "file_bytes": 2 * MIB,
        "accelerator": "builtin",
        "inputs": (("image", (1, 1024, 1024, 1), "float32"),),
        "arena_bytes": 28 * MIB,
        "persistent_bytes": 64 * KIB,
        "packed_weights_bytes": 0,
        "workspace_bytes": 0,
        "dynamic_bytes": 0,
        "mapped_bytes": 2 * MIB,
        "runtime_bytes": 100 * KIB,
        "peak_bytes": peak,
        "total_bytes": peak + 2 * MIB,
        "min_arena_bytes": None,
        "placements": PLACES,
        "ops": OPS,
        "exact": True,
        "unknown": (),
        "parts": PARTS,
        "unshared": ((2, "narrow", 8 * MIB, "its input is read again later"),),
        "lower_bound_bytes": 24 * MIB,
    }
    return Plan(**{**usual, **changes})


def micro(**changes: Any) -> Plan:
    """A plan for TensorFlow Lite Micro: 60 KiB of head, 20 KiB of tail, a file of 200 KiB."""
    usual: dict[str, Any] = {
        "accelerator": "tflm",
        "file_bytes": 200 * KIB,
        "mapped_bytes": 200 * KIB,
        "arena_bytes": 60 * KIB,
        "persistent_bytes": 20 * KIB,
        "runtime_bytes": 0,
        "peak_bytes": 80 * KIB,
        "total_bytes": 80 * KIB,
        "min_arena_bytes": 82 * KIB,
        "lower_bound_bytes": 50 * KIB,
        "parts": (),
    }
    return sketch(**{**usual, **changes})


def refused(*refusals: Refusal, **changes: Any) -> Plan:
    """A plan that a runtime refuses: no sizes."""
    sizes = dict.fromkeys(
        (
            "arena_bytes",
            "persistent_bytes",
            "packed_weights_bytes",
            "workspace_bytes",
            "dynamic_bytes",
            "mapped_bytes",
            "runtime_bytes",
            "peak_bytes",
            "total_bytes",
            "min_arena_bytes",
            "lower_bound_bytes",
        )
    )
    lacks = Refusal(subgraph=0, op=3, type="UNIQUE", reason="there is no kernel for it", missing=True)
    given = {"refusals": refusals or (lacks,), "placements": (), "ops": (), "parts": (), "unshared": ()}
    return micro(**{**sizes, **given, **changes})
