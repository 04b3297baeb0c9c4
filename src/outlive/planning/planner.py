"""Plans with a worker at hand: shapes that only the runtime knows, and what a run really takes.

Values a user gives, put to the inputs they are for: facts for the rules on inputs.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.arena.budget import expected_error
from outlive.arena.measured import set_beside, set_micro_beside
from outlive.arena.plan import Plan, is_exact
from outlive.arena.planners import Prepare, answer
from outlive.arena.questions import PlanRequest, find_input, input_shapes
from outlive.errors import OutliveError
from outlive.interpreter.affine import Affine, affine_of
from outlive.interpreter.array_facts import look_at
from outlive.interpreter.feeds import IoTensor, describe_call, problem_with
from outlive.interpreter.judge import Call
from outlive.interpreter.prepared_shapes import preparer
from outlive.interpreter.recorded_run import measure
from outlive.model import Model, Tensor
from outlive.rules.feed import Feed, GivenInput, quantized

# Types that numpy has no name for, or that are set in another way: nothing is said about those.
_PLAIN = "biufc"


def make_feed(model: Model, values: Any) -> Feed:
    """The values by input: a mapping of names, a list in the model's order, or the only one."""
    if isinstance(values, Mapping):
        pairs = [(find_input(model, str(name)), value) for name, value in values.items()]
    else:
        listed = list(values) if isinstance(values, (list, tuple)) else [values]
        if len(listed) != len(model.inputs):
            raise ValueError(f"the model has {len(model.inputs)} inputs, and {len(listed)} were given")
        pairs = list(zip(model.inputs, listed, strict=True))
    if len({tensor.index for tensor, _ in pairs}) != len(pairs):
        raise ValueError("an input is given twice, under two of its names")
    return Feed(model=model, given=tuple(_given(model, tensor, np.asarray(value)) for tensor, value in pairs))


def affine_parameters(details: Mapping[str, Any] | Tensor) -> Affine:
    """How integers stand for real numbers: by a row of details, or a tensor that was read."""
    if not isinstance(details, Tensor):
        return affine_of(details)
    found = details.quantization
    try:
        dtype = np.dtype(details.dtype)
    except TypeError:
        raise ValueError(f"tensor {details.name[:80]!r}: numpy has no {details.dtype}") from None
    return Affine(
        name=details.name,
        dtype=dtype,
        scales=found.scales if found is not None else (),
        zero_points=found.zero_points if found is not None else (),
        axis=found.axis if found is not None else 0,
    )


def calls_of(feed: Feed) -> list[Call]:
    """The calls to set the values that the interpreter would refuse."""
    return [call for given in feed.given if (call := _refused(given)) is not None]


def _given(model: Model, tensor: Tensor, array: NDArray[Any]) -> GivenInput:
    place = next(place for place, item in enumerate(model.inputs) if item.index == tensor.index)
    cards = model.card.inputs if model.card is not None else ()
    card = cards[place] if place < len(cards) and len(cards) == len(model.inputs) else None
    return GivenInput(tensor=tensor, seen=look_at(array), array=array, card=card)


def _refused(given: GivenInput) -> Call | None:
    """The refused call for a value of another shape or type; None where another rule says more."""
    tensor, array = given.tensor, given.array
    try:
        wanted = np.dtype(tensor.dtype)
    except TypeError:
        return None
    if wanted.kind not in _PLAIN or (not tensor.has_rank and not tensor.shape):
        return None
    end = IoTensor(index=tensor.index, dtype=tensor.dtype, shape=tensor.shape)
    problem = problem_with(array, end)
    if problem == "wrong-dtype" and given.seen.is_float and quantized(tensor):
        # I301 says it better; the shape still has to be right.
        problem = _shape_only(array, end)
    if not problem or (problem not in ("wrong-dtype", "byte-order") and tensor.may_become(array.shape)):
        return None
    return describe_call(problem, array, end, tensor.name, "")


def _shape_only(array: NDArray[Any], end: IoTensor) -> str:
    """What is wrong with the shape, whatever the type."""
    return problem_with(np.broadcast_to(np.zeros((), end.dtype), array.shape), end)


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
