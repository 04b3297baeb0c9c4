"""From what a user asks for to a coverage: the accelerators by name, the inputs, the limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from outlive.accelerators.nouns import Coverage
from outlive.accelerators.probing import has_flex, probe_model
from outlive.accelerators.trying import Order
from outlive.accelerators.ways import choose_ways
from outlive.interpreter.judge import Judge
from outlive.interpreter.options import Delegate
from outlive.model import Model
from outlive.process.limits import Limits

# An accelerator that has not answered by then is not going to.
USUAL_SECONDS = 60.0


def probe_source(
    model: Model,
    source: str | bytes,
    only: Sequence[str],
    delegates: Sequence[Delegate],
    inputs: Any,
    limits: Limits | None,
    *,
    judge: Judge,
    threads: int | None = None,
    seed: int = 0,
    cache: bool = True,
    bisect: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Coverage:
    """What accelerators take of this model; ValueError for accelerators and numbers that cannot be."""
    if threads is not None and threads < 1:
        raise ValueError(f"a model runs with at least one thread, not {threads}")
    if not model.subgraphs:
        raise ValueError("the model has no graph that could be run")
    known = limits or Limits()
    if known.seconds is None:
        known = Limits(memory=known.memory_bytes, seconds=USUAL_SECONDS)
    order = Order(source=source, judge=judge, inputs=inputs, seed=seed, limits=known)
    ways = choose_ways(only, delegates, threads, has_flex(model))
    return probe_model(model, ways, order, tell=tell, remember=cache, threads=threads, bisect=bisect)
