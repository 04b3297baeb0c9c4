"""Quantizes as much as a target allows: the layers that hurt most stay in float, step by step.

quantize all ─► compare ─► rank layers by the harm that the error born in them does
└─ target missed ─► leave the worst 1, 2, 3, 5, 8 ... out ─► quantize ─► compare ─┐
▲                                                            │
└────────────────── target missed ───────────────────────────┘
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from outlive.quant.drift import Drift, OutputDrift
from outlive.quant.quantized import MixedStep, Quantized
from outlive.quant.tensor_graph import CONVERSIONS

Target = Mapping[str, float] | Callable[[Drift], bool]
_NAMES = ("sqnr", "agreement")


def check_target(target: Any, metrics: tuple[str, ...] = ()) -> Target:
    """The target; ValueError if it is none. `metrics` are the names of the user's own."""
    if callable(target):
        return target  # type: ignore[no-any-return]
    if isinstance(target, Mapping) and target and set(target) <= {*_NAMES, *metrics}:
        return {str(name): float(value) for name, value in target.items()}
    own = "".join(f", {{{name!r}: least}}" for name in metrics)
    raise ValueError(f"until= is {{'sqnr': decibels}}, {{'agreement': share}}{own}, or a function of a Drift")


def select(
    make: Callable[[tuple[str, ...]], Quantized], compare: Callable[[bytes], Drift], target: Target
) -> Quantized:
    """The first model that meets the target, the worst layers in float; the best one, if none does.

    `make` quantizes the model but for some layers, and `compare` holds the result against the float one.
    """
    steps: list[MixedStep] = []
    best: tuple[float, Quantized] | None = None
    ranking: list[str] = []
    for count in _counts():
        kept = tuple(ranking[:count])
        made = make(kept)
        drift = compare(made.model)
        if not ranking:
            ranking = _ranked(drift)
        step = MixedStep(
            kept=kept,
            file_bytes=made.file_bytes,
            sqnr_db=sqnr(drift),
            agreement=agreement(drift),
            met=is_met(target, drift),
            user_metrics=_users(drift),
        )
        steps.append(step)
        score = -math.inf if step.sqnr_db is None else step.sqnr_db
        if best is None or score > best[0]:
            best = (score, made)
        if step.met:
            return replace(made, steps=tuple(steps))
        if count >= len(ranking):
            break
    assert best is not None
    return replace(best[1], steps=tuple(steps))


def _ranked(drift: Drift) -> list[str]:
    """Layers of the float model, the ones that hurt most first; conversions have no layer there."""
    rows = [row for row in drift.tensors if row.harm > 0 and row.op_type not in ("INPUT", *CONVERSIONS)]
    rows.sort(key=lambda row: -row.harm)
    return list(dict.fromkeys(row.reference_name for row in rows if row.reference_name))


def _counts() -> Iterator[int]:
    """How many layers stay in float: 0, 1, 2, 3, 5, 8 ..."""
    now, following = 1, 2
    yield 0
    while True:
        yield now
        now, following = following, now + following


def is_met(target: Target, drift: Drift) -> bool:
    """True if the outputs are as near to the reference's as is wanted."""
    if not isinstance(target, Mapping):
        return bool(target(drift))
    wanted = {**_users(drift), "sqnr": sqnr(drift), "agreement": agreement(drift)}
    return all((found := wanted.get(name)) is not None and found >= least for name, least in target.items())


def _users(drift: Drift) -> dict[str, float]:
    """The user's metrics, each by the worst output that has it."""
    found: dict[str, float] = {}
    for row in drift.outputs:
        for name, value in row.user_metrics.items():
            found[name] = _worse(value, found.get(name, value))
    return found


def sqnr(drift: Drift) -> float | None:
    """The worst signal to noise of the outputs; no number is as bad as values that are not finite."""
    known = [_sqnr(row) for row in drift.outputs if row.metrics is not None or row.why]
    return min(known, default=None)


def _sqnr(row: OutputDrift) -> float:
    found = row.metrics
    if found is None or row.why or found.not_finite or math.isnan(found.sqnr_db):
        return -math.inf
    return found.sqnr_db


def _worse(one: float, other: float) -> float:
    """The lesser; not a number, if either is none, for nothing meets a target so."""
    return math.nan if math.isnan(one) or math.isnan(other) else min(one, other)


def agreement(drift: Drift) -> float | None:
    """The worst agreement of winners of the outputs that have any."""
    known = [row.argmax_agreement for row in drift.outputs if row.argmax_agreement is not None]
    return min(known, default=None)
