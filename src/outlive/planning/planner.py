"""Plans with a worker at hand: shapes that only the runtime knows, and what a run really takes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from outlive.arena.accuracy import expected_error
from outlive.arena.measured import set_beside, set_micro_beside
from outlive.arena.plan import Plan, is_exact
from outlive.arena.planners import Prepare, answer
from outlive.arena.questions import PlanRequest, input_shapes
from outlive.errors import OutliveError
from outlive.interpreter.prepared_shapes import preparer
from outlive.interpreter.recorded_run import measure
from outlive.model import Model

_SHOWN = 4


def plan_model(model: Model, wish: PlanRequest, measuring: bool = False) -> Plan:
    """The plan for a wish, measured as well if that is asked for."""
    found = answer(model, wish, prepare_with(model, wish))
    exact = is_exact(found)
    judged = found.accelerator != "tflm" and not found.refusals and not exact
    error = (expected_error(found.accelerator, found.bound),) if judged else ()
    found = replace(found, exact=exact, unknown=(*found.unknown, *left_out(model), *error))
    if not measuring or found.refusals:
        return found
    return replace(
        found,
        measured=_measure_micro(model, wish) if wish.accelerator == "tflm" else _run(model, wish, found),
    )


def left_out(model: Model, what: str = "planned") -> tuple[str, ...]:
    """That some signatures are not looked at, in words: those of other subgraphs than the main one."""
    others = [signature.key for signature in model.signatures if signature.subgraph_index != 0]
    if not others:
        return ()
    shown = ", ".join(repr(key[:40]) for key in others[:_SHOWN])
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    warning = f"what signature {shown}{more} needs is not counted, and may be more"
    return (f"only the main subgraph is {what}: {warning}",)


def prepare_with(model: Model, wish: PlanRequest) -> Prepare:
    """How the runtime is asked for shapes."""
    return preparer(for_worker(model), wish.threads)


def for_worker(model: Model) -> str | bytes:
    """What a worker opens: the file where there is one, so that it is mapped and not copied."""
    return model.path if model.path is not None and os.path.isfile(model.path) else bytes(model.content)


def _run(model: Model, wish: PlanRequest, found: Plan) -> Mapping[str, Any]:
    try:
        seen = measure(
            for_worker(model),
            accelerator=wish.accelerator,
            threads=wish.threads,
            preserve_all_tensors=wish.preserve_all_tensors,
            shapes=input_shapes(model, wish),
        )
    except (OutliveError, OSError, ValueError) as error:
        return set_beside(found, {}, " ".join(str(error).split())[:300])
    sizes = {
        "load_bytes": seen.load_bytes,
        "allocate_bytes": seen.allocate_bytes,
        "invoke_bytes": seen.invoke_bytes,
        "peak_bytes": seen.peak_bytes,
    }
    return set_beside(found, sizes, seen.problem)


def _measure_micro(model: Model, wish: PlanRequest) -> Mapping[str, Any]:
    """The real TensorFlow Lite Micro, in wasm32, beside the plan for just that build."""
    from outlive.arena.tflm.planning import plan_tflm
    from outlive.interpreter.tflm_benchmark import MicroMeasure, measure_micro

    if input_shapes(model, wish):
        return _not_measured("TensorFlow Lite Micro cannot resize; only the file as it is can be measured")
    seen = measure_micro(for_worker(model))
    if not isinstance(seen, MicroMeasure):
        return _not_measured(f"{seen.reason}; {seen.remedy}" if seen.remedy else seen.reason)
    same = replace(wish, abi="wasm32", kernels="reference")
    expected = plan_tflm(model, same.question(), benchmark=True)
    runtime = f"TensorFlow Lite Micro {seen.tflm_commit[:12]} in wasm32, mcufit {seen.mcufit_version}"
    return set_micro_beside(expected, seen.arena_bytes, seen.persistent_bytes, runtime)


def _not_measured(problem: str) -> Mapping[str, Any]:
    return {"stages": [], "explanation": [problem], "problem": problem}
