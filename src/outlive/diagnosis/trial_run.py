"""Flies a model under conditions and always comes back with a trial, whatever the model does."""

from __future__ import annotations

import time
from typing import Any

from outlive.diagnosis.diagnosis_record import Conditions, Trial
from outlive.errors import InputError, OutliveError, RuntimeMissing
from outlive.finding import Finding
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.interpreter.recorded_run import RunInputs, record_run, with_inner_tensors
from outlive.process.flight import Flight
from outlive.rules.flight_end import STAGE_WORDS

# Each byte of memory that malloc hands out and takes back is filled with this (mallopt(3), M_PERTURB): what
# reads too far, or too late, no longer finds zeros or old values by luck.
PERTURBED = {"MALLOC_PERTURB_": "165"}


def attempt(name: str, conditions: Conditions) -> Trial:
    """One flight in a worker of its own; a call that was refused becomes a flight that says so."""
    start = time.monotonic()
    refusal: Finding | None = None
    try:
        flight = record_run(
            conditions.inputs,
            1,
            0,
            judge=conditions.judge,
            shapes=conditions.shapes,
            **_arguments(conditions),
        )
    except RuntimeMissing:
        raise
    except OutliveError as error:
        flight, refusal = _flight_of(error), error.finding
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, RuntimeError, MemoryError) as error:
        # The runtime's own complaint, or inputs that are none.
        flight = Flight(died=False, stage="set", error_type=type(error).__name__, error_text=str(error))
    seconds = time.monotonic() - start
    return Trial(name=name, conditions=conditions, flight=flight, seconds=seconds, refusal=refusal)


def looked_into(trial: Trial) -> Flight:
    """The flight of a trial, with what was seen inside: who makes NaN, and which outputs never change."""
    feeding = RunInputs(inputs=trial.conditions.inputs, shapes=trial.conditions.shapes)
    return with_inner_tensors(trial.flight, feeding, _arguments(trial.conditions), vary=True)


def _arguments(conditions: Conditions) -> dict[str, Any]:
    named = "model_content" if isinstance(conditions.source, bytes) else "model_path"
    return {
        named: conditions.source,
        "experimental_op_resolver_type": ACCELERATORS[conditions.accelerator],
        "num_threads": conditions.threads,
        "memory": conditions.memory_bytes,
        "seconds": conditions.seconds,
        "_environment": conditions.environment,
    }


def _flight_of(error: OutliveError) -> Flight:
    """The flight of a refused call: its finding knows the stage, its text the runtime's own words."""
    flight = getattr(error, "flight", None)
    if isinstance(flight, Flight):
        return flight
    where = error.finding.where
    stage = next((stage for stage, words in STAGE_WORDS.items() if words in where), "set")
    said = str(error).split(f"\n{error.finding.severity.value}[")[0]
    kind = "ValueError" if isinstance(error, InputError) else type(error).__name__
    return Flight(died=False, stage=stage, error_type=kind, error_text=said)
