"""Growth as rules need it: stages with trends that were decided, without a worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from outlive.growth.growth import LEAKS, NO_LEAK, UNCLEAR, Census, CycleGrowth, Growth, Keeper, Round
from outlive.growth.stage_verdict import Room, forecast_limits
from outlive.growth.trend import Trend

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
FLAT = Trend(verdict="flat", above=40.0)
NAMES = ("held_bytes", "heap_bytes", "mapped_bytes", "objects", "descriptors", "threads")
ROUNDS = tuple(
    Round(
        calls=calls,
        seconds=calls / 100,
        call_seconds=calls / 200,
        held_bytes=80 * MIB,
        descriptors=24,
        threads=3,
    )
    for calls in range(0, 1201, 100)
)
ARRAYS = Keeper(
    kind="numpy.ndarray",
    per_round=1.0,
    bytes_each=100 * KIB,
    container="list",
    kept_by=("global variable history of train", "attribute losses of train.Log"),
)
TENSORS = Keeper(
    kind="tensorflow.EagerTensor",
    per_round=1.0,
    bytes_each=4 * KIB,
    plain=False,
    container="list",
    kept_by=("variable kept in the closure of make.<locals>.step()",),
)
POINTERS = Keeper(
    kind="int", per_round=1.0, bytes_each=32, container="list", kept_by=("global variable p of x",)
)


def rising(rate: float) -> Trend:
    """A quantity that grows by this much per round."""
    return Trend(verdict="grows", per_round=rate, low=0.9 * rate, high=1.1 * rate, above=1.1 * rate)


def stage(cycle: str = "call", leading: str = "held_bytes", rates: Any = None, **fields: Any) -> CycleGrowth:
    """A stage in which some quantities grow at these rates, and all others do not."""
    rates = rates or {}
    trends = {name: rising(rates[name]) if name in rates else FLAT for name in NAMES}
    chosen = trends[leading]
    made = CycleGrowth(
        cycle=cycle,
        verdict=LEAKS if rates else NO_LEAK,
        leading=leading,
        bytes_per_iteration=chosen.per_round,
        low=chosen.low,
        high=chosen.high,
        above=40.0,
        trends=trends,
        rounds=ROUNDS,
    )
    room = Room(memory_bytes=2 * GIB, limited_by="cgroup", descriptors=1024, threads=5000)
    return replace(made, **{"ends": forecast_limits(made, room), **fields})


def growth(*stages: CycleGrowth, what: str = "train.py::step") -> Growth:
    """Some stages of one thing."""
    return Growth(what=what, stages=stages)


def heap(**fields: Any) -> CycleGrowth:
    """Native memory: what malloc gave out, 100 KiB in each round."""
    rates = {"held_bytes": 100 * KIB, "heap_bytes": 100 * KIB, "mapped_bytes": 100 * KIB}
    return stage(rates=rates, **{"census": Census(rounds=20), **fields})


def mapped(**fields: Any) -> CycleGrowth:
    """Mapped memory that was never touched."""
    block = Keeper(kind="mmap.mmap", per_round=1.0, bytes_each=96, plain=False, container="list")
    census = Census(
        rounds=20, keepers=(block,), mappings=(("/data/cache.bin", 1.0 * MIB), ("[heap]", 8.0 * KIB))
    )
    return stage(
        leading="mapped_bytes", rates={"mapped_bytes": 1.0 * MIB, "objects": 1.0}, census=census, **fields
    )


def unclear(**fields: Any) -> CycleGrowth:
    """Neither verdict."""
    made = stage(**fields)
    trends = {**made.trends, "held_bytes": Trend(verdict="unclear", low=-9000.0, high=50_000.0)}
    reason = "memory in RAM: growth slowed down or paused: it may stop"
    return replace(made, verdict=UNCLEAR, trends=trends, low=-9000.0, high=50_000.0, reason=reason)
