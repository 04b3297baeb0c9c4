"""Runs one model for its row: how long it takes, what it gives, why it dies; and tries accelerators."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlive.accelerators import Accelerator
from outlive.accelerators.asking import probe_source
from outlive.diagnosis.caught import diagnose_flight
from outlive.diagnosis.nouns import Diagnosis
from outlive.diagnosis.opening import diagnose_case, open_case
from outlive.errors import OutliveError, RuntimeMissing
from outlive.finding import Finding
from outlive.fleet.nouns import Order
from outlive.fleet.rows import AcceleratorSeen, DeathSeen, Outcome, OutputSeen, RunSeen
from outlive.model import Model, read_source
from outlive.rules import judge
from outlive.rules.catalogue import RULES, assess_run
from outlive.worker.compiled_ladder import run_arguments
from outlive.worker.flight import Flight
from outlive.worker.intermediates import Feeding, with_inside
from outlive.worker.limits import Limits
from outlive.worker.running import fly
from outlive.worker.verdicts import Judge

_SAMPLES = 16
_MOST_OUTPUTS = 16
_MOST_TEXT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """What a run came to."""

    outcome: Outcome
    run: RunSeen | None = None
    death: DeathSeen | None = None
    findings: tuple[Finding, ...] = ()
    accelerators: tuple[AcceleratorSeen, ...] = ()


def run_model(path: str, order: Order, budget_bytes: int | None, by: Judge) -> Landed:
    """Run a file in a worker, and find out why if it does not come back well."""
    limits = Limits(memory=budget_bytes, seconds=order.seconds)
    flight = _fly(path, order, limits, by)
    if flight is not None and not flight.died and not flight.error_type:
        found = assess_run(flight, read_source(path, by.changed_file))
        return Landed(outcome="ran", run=_run_seen(flight), findings=found)
    diagnosis = diagnose_case(open_case(path, None, limits, order.accelerator, judge=by))
    if diagnosis.verdict is None and flight is not None:
        diagnosis = diagnose_flight(flight)  # it went well the second time: what is known is the first
    return _fallen(diagnosis, flight)


def _fly(path: str, order: Order, limits: Limits, by: Judge) -> Flight | None:
    """The flight; None if even the call was refused, which a diagnosis then explains."""
    try:
        given = {"model_path": path, "memory": limits.memory_bytes, **run_arguments(order.accelerator)}
        flight = fly(None, order.repeat, 0, judge=by, seconds=limits.seconds, **given)
        return with_inside(flight, Feeding(), given, vary=False)
    except RuntimeMissing:
        raise
    except (OutliveError, ValueError, TypeError, IndexError, KeyError, RuntimeError, MemoryError):
        return None


def _run_seen(flight: Flight) -> RunSeen:
    calls = [1000 * seconds for stage, seconds in flight.stages if stage.startswith("invoke")]
    return RunSeen(
        milliseconds=round(statistics.median(calls[1:] or calls), 4) if calls else None,
        first_milliseconds=round(calls[0], 4) if calls else None,
        peak_bytes=flight.peak_bytes,
        outputs=tuple(
            OutputSeen(
                name=item.name[:_MOST_TEXT],
                shape=item.shape,
                dtype=item.dtype,
                sha256=item.sha256,
                minimum=item.minimum,
                maximum=item.maximum,
                samples=_samples(flight.values, item.name),
            )
            for item in flight.outputs[:_MOST_OUTPUTS]
        ),
    )


def _samples(values: Mapping[str, Any], name: str) -> tuple[float, ...]:
    """A few numbers of an output, evenly taken: enough to tell rounding from another result."""
    import numpy as np

    array = np.asarray(values.get(name, ()))
    if array.size == 0 or array.dtype.kind not in "biuf":
        return ()
    places = np.linspace(0, array.size - 1, min(_SAMPLES, array.size)).astype(np.int64)
    return tuple(float(f"{float(value):.9g}") for value in array.reshape(-1)[places])


def _fallen(diagnosis: Diagnosis, flight: Flight | None) -> Landed:
    end = diagnosis.end
    hung = end is not None and end.manner == "deadline"
    outcome: Outcome = "hung" if hung else "died" if diagnosis.died else "refused"
    verdict = diagnosis.verdict
    if verdict is None:
        text = "" if flight is None else flight.error_text
        death = DeathSeen(cause="unknown", code="", headline=text[:_MOST_TEXT], stage=diagnosis.stage)
        return Landed(outcome=outcome, death=death)
    op = diagnosis.op
    told = "" if op is None else op.type if op.index is None else f"op {op.index} {op.type}"
    death = DeathSeen(
        cause=diagnosis.cause,
        code=verdict.code,
        headline=verdict.headline,
        stage=diagnosis.stage,
        signal=diagnosis.signal,
        op=told[:_MOST_TEXT],
        works_with=diagnosis.works_with,
    )
    return Landed(outcome=outcome, death=death, findings=(verdict,))


def try_accelerators(
    model: Model, path: str, order: Order, by: Judge
) -> tuple[tuple[AcceleratorSeen, ...], tuple[Finding, ...], str]:
    """What each accelerator takes and does, the findings on that, and why there is nothing, if so."""
    limits = Limits(seconds=order.seconds)
    try:
        coverage = probe_source(model, path, (), (), None, limits, judge=by)
    except (OutliveError, ValueError, OSError, RuntimeError) as error:
        return (), (), f"accelerators not tried: {type(error).__name__}: {error}"
    rules = [rule for rule in RULES if rule.facts == ("coverage",)]
    findings = judge({"coverage": coverage}, rules).findings
    return tuple(map(_accelerator, coverage.accelerators)), findings, ""


def _accelerator(one: Accelerator) -> AcceleratorSeen:
    return AcceleratorSeen(
        name=one.name,
        outcome=one.outcome,
        ops_taken=one.ops_taken,
        ops_total=one.ops_total,
        milliseconds=one.milliseconds,
    )
