"""What it is that grows, for all rules on growth: one culprit for the memory of a stage, and shared words."""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Tag
from outlive.growth.growth import LEAKS, CycleGrowth, Growth, Keeper
from outlive.growth.stage_verdict import describe_forecast
from outlive.units import format_bytes

# A thread takes some pages of its stack and an arena of malloc's, an open file its buffer: no second leak.
_BYTES_PER_THREAD, _BYTES_PER_DESCRIPTOR = 256 << 10, 64 << 10
# Whatever explains this share of the growth is to blame.
_SHARE = 0.5
_WORTH_A_WORD = 0.1
_MODEL_CYCLES = ("load", "invoke", "resize")


def stages_with(growth: Growth, culprit: str) -> Iterator[CycleGrowth]:
    """The stages that leak, and of whose memory this is the culprit."""
    return (stage for stage in growth.stages if stage.verdict == LEAKS and memory_culprit(stage) == culprit)


def memory_culprit(stage: CycleGrowth) -> str:
    """What memory grows by in a leaking stage: "python", "heap", "mapped", "unknown"; "" if it does not."""
    if not any(stage.grows(name) for name in ("held_bytes", "heap_bytes", "mapped_bytes")):
        return ""
    rate = stage.bytes_per_iteration
    if rate <= _rate(stage, "threads") * _BYTES_PER_THREAD:
        return ""
    if rate <= _rate(stage, "descriptors") * _BYTES_PER_DESCRIPTOR and not _keeps(stage, "mmap.mmap"):
        return ""
    if python_bytes(stage) >= _SHARE * rate:
        return "python"
    if _rate(stage, "heap_bytes") >= _SHARE * rate:
        return "python" if opaque_keepers(stage) else "heap"
    return "mapped" if _rate(stage, "mapped_bytes") >= _SHARE * rate else _rest(stage)


def _rest(stage: CycleGrowth) -> str:
    """Neither malloc nor mappings tell of it: Python's own small objects, if those became more."""
    return "python" if stage.grows("objects") and stage.census is None else "unknown"


def _rate(stage: CycleGrowth, what: str) -> float:
    return stage.trends[what].per_round if stage.grows(what) else 0.0


def _keeps(stage: CycleGrowth, kind: str) -> bool:
    return stage.census is not None and any(keeper.kind == kind for keeper in stage.census.keepers)


def python_bytes(stage: CycleGrowth) -> float:
    """What Python objects that became more add per round; one may be seen in its box and by its type."""
    keepers = stage.census.keepers if stage.census else ()
    boxed = sum(keeper.bytes_per_round for keeper in keepers if keeper.container)
    lone = max((keeper.bytes_per_round for keeper in keepers if not keeper.container), default=0.0)
    return max(boxed, lone)


def opaque_keepers(stage: CycleGrowth) -> list[Keeper]:
    """Objects that became more and may own memory that Python does not count: tensors, interpreters."""
    keepers = stage.census.keepers if stage.census else ()
    return [keeper for keeper in keepers if not keeper.plain and keeper.per_round >= _SHARE]


def place(growth: Growth, stage: CycleGrowth) -> str:
    """What was repeated."""
    return growth.what if len(growth.stages) == 1 else f"{growth.what}, cycle {stage.cycle}"


def rate(stage: CycleGrowth) -> Evidence:
    """How much per round, and how sure that is."""
    size, low, high = (format_bytes(round(v)) for v in (stage.bytes_per_iteration, stage.low, stage.high))
    return Evidence(f"{size} more per round; {low} to {high} (99 %)", f"{stage.calls:,} rounds")


def counted(stage: CycleGrowth, what: str, *more: Evidence) -> Iterator[Evidence]:
    """How many more of something per round, what else is known of it, and when that would end."""
    trend = stage.trends[what]
    spread = f"{trend.low:.3g} to {trend.high:.3g} (99 %)"
    yield Evidence(f"{trend.per_round:.3g} more per round; {spread}", f"{stage.calls:,} rounds")
    yield from more
    yield from (Evidence(describe_forecast(end), "this rate") for end in stage.ends if end.what == what)


def parts(stage: CycleGrowth) -> Iterator[Evidence]:
    """Which memory grew by how much."""
    words = {"held_bytes": "resident memory", "heap_bytes": "malloc", "mapped_bytes": "mapped memory"}
    for name, word in words.items():
        if stage.grows(name):
            size = format_bytes(round(stage.trends[name].per_round))
            yield Evidence(f"{word}: {size} per round", name.replace("_", " "))


def sites(stage: CycleGrowth) -> Iterator[Evidence]:
    """The lines and native functions that asked for it."""
    for name, per_round in (stage.census.sites if stage.census else ())[:2]:
        if per_round >= _WORTH_A_WORD * stage.bytes_per_iteration:
            yield Evidence(f"allocated by {name}: {format_bytes(round(per_round))} per round", "memray")


def ends(stage: CycleGrowth) -> Iterator[Evidence]:
    """When it would end."""
    yield from (Evidence(describe_forecast(end), "this rate") for end in stage.ends[:1])


def keeping(keepers: list[Keeper], census_rounds: int) -> Iterator[Evidence]:
    """Who keeps what."""
    source = f"{census_rounds} rounds examined"
    for keeper in keepers[:3]:
        box = f", in a {keeper.container}" if keeper.container else ""
        each = f"{keeper.per_round:.3g} {keeper.kind} per round, {format_bytes(keeper.bytes_each)} each"
        yield Evidence(f"{each}{box}", source)
        if keeper.kept_by:
            yield Evidence(f"kept by {', in '.join(keeper.kept_by)}", "references")


def beside(stage: CycleGrowth) -> Iterator[Evidence]:
    """Python objects that became more as well, and explain a part of it."""
    keepers = stage.census.keepers if stage.census else ()
    some = [
        keeper for keeper in keepers if keeper.bytes_per_round >= _WORTH_A_WORD * stage.bytes_per_iteration
    ]
    yield from keeping(some[:1], stage.census.rounds if stage.census else 0)


def fault(stage: CycleGrowth) -> Fault:
    """The runtime's, if a model was repeated; otherwise that of the function that was given."""
    return Fault.RUNTIME if stage.cycle in _MODEL_CYCLES else Fault.INPUT


def isolate(stage: CycleGrowth) -> Remedy:
    """What helps where the cause cannot be fixed: a process that is thrown away."""
    if stage.cycle == "load":
        return Remedy("open the model once, and reuse the interpreter", Tag.SAME_RESULTS)
    each = max(1, int(100_000_000 / max(1.0, stage.high)))
    return Remedy(
        f"run it in a worker, and restart the worker regularly: outlive.guard(function, recycle={each})",
        Tag.SAME_RESULTS,
        effect="the leak ends with the worker, at about 100 MB",
    )
