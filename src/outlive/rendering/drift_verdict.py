"""Comparisons and quantizations with their findings: the rooms measure, the rules judge, here they meet."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from outlive.errors import RunError
from outlive.finding import Finding
from outlive.guarding.guarding import make_guarded
from outlive.model import Model, read_source
from outlive.quant.capturing import give_back_free_memory
from outlive.quant.comparing import Comparison
from outlive.quant.feeding import Samples, some_samples
from outlive.quant.lining_up import Task
from outlive.quant.nouns import Drift, Quantized
from outlive.quant.quantizing import Order, quantize_model
from outlive.quant.recipes import chooser, find_recipe, narrowed
from outlive.quant.selecting import Kitchen, check_target, select
from outlive.rules.catalogue import RULES
from outlive.rules.engine import judge as ask_rules
from outlive.units import parse_bytes
from outlive.worker.verdicts import Judge

# Enough to see which layers stand out; whoever wants more gives samples.
_RANDOM_SAMPLES = 8
RANDOM = "no samples were given: seeded random ones were used; real inputs say more"


def compare_models(
    reference: Model,
    candidate: Model,
    samples: Any,
    *,
    layers: Sequence[str | int],
    metrics: Mapping[str, Callable[..., float]] | None,
    accelerator: str,
    memory: str | int | None,
    born_here: bool,
    tell: Callable[[int, int, int], None],
    judge: Judge,
) -> Drift:
    """The drift between two models, judged."""
    task = Task(
        reference=reference,
        candidate=candidate,
        judge=judge,
        accelerator=accelerator,
        budget_bytes=parse_bytes(memory) if isinstance(memory, str) else memory,
        metrics=metrics or {},
        layers=chooser(candidate, layers) if layers else None,
        born_here=born_here,
        tell=tell,
    )
    given = some_samples(reference, _RANDOM_SAMPLES) if samples is None else samples
    with Samples(given, reference, judge) as stream, _leaving_nothing():
        drift = _compared(task, stream)
    notes = (*drift.notes, RANDOM) if samples is None else drift.notes
    return replace(drift, notes=notes, findings=_findings("drift", drift))


def quantize_source(
    model: Model,
    recipe: Any,
    samples: Any,
    *,
    skip: Sequence[str],
    only: Sequence[str],
    io: str,
    memory: str | int | None,
    seconds: float | None,
    until: Any,
    tell: Callable[[int], None],
    judge: Judge,
    metrics: Mapping[str, Callable[..., float]] | None = None,
) -> Quantized:
    """The quantized model, judged; with a target, the first one that meets it."""
    asked = dict(metrics or {})
    target = None if until is None else check_target(until, tuple(asked))
    if io not in ("float", "int8"):
        raise ValueError(f"inputs and outputs are float or int8, not {io!r:.40}")
    name, rows = find_recipe(recipe)

    guarded = partial(make_guarded, judge=judge, memory=memory, seconds=seconds, quiet=True)

    def make(kept: tuple[str, ...]) -> Quantized:
        left_out = (*skip, *kept)
        chosen = narrowed(rows, model, left_out, only, io)
        order = Order(model=model, name=name, recipe=chosen, judge=judge, skip=left_out, only=tuple(only))
        return quantize_model(order, stream, guarded, tell)

    with ExitStack() as stack:
        stack.enter_context(_leaving_nothing())
        stream = None if samples is None else stack.enter_context(Samples(samples, model, judge))
        if target is None:
            made = make(())
        elif stream is None:
            raise ValueError("a target needs samples to be held against")
        else:
            held = stream
            task = partial(Task, reference=model, judge=judge, metrics=asked)
            kitchen = Kitchen(make=make, compare=lambda content: _held_against(task, content, held))
            made = select(kitchen, target)
    return replace(made, findings=_findings("quantized", made))


def _held_against(task: Callable[..., Task], content: bytes, samples: Samples) -> Drift:
    candidate = read_source(content).model
    assert candidate is not None, "the quantizer writes files that can be read"
    return _compared(task(candidate=candidate), samples)


def _compared(task: Task, samples: Samples) -> Drift:
    """The drift by the kernels asked for; by the other ones, with a note, if those refuse or die."""
    try:
        return Comparison(task).run(samples)
    except RunError as error:
        other = "builtin" if task.accelerator == "cpu" else "cpu"
        try:
            drift = Comparison(replace(task, accelerator=other)).run(samples)
        except RunError:
            raise error from None
        note = f"run with accelerator {other}: with {task.accelerator}, {error.finding.headline}"
        return replace(drift, notes=(*drift.notes, note))


@contextmanager
def _leaving_nothing() -> Iterator[None]:
    """Do something and collect what it leaves: mappings and files that only the collector would find later.

    They are large and few, so that the collector, which counts objects, sees no reason to hurry. And what is
    free is given back to the system: glibc keeps it for each thread that ever worked.
    """
    try:
        yield
    finally:
        gc.collect()
        give_back_free_memory()


def _findings(kind: str, fact: Any) -> tuple[Finding, ...]:
    return ask_rules({kind: fact}, [rule for rule in RULES if rule.facts == (kind,)]).findings
