"""Asks the right planner, with shapes from the runtime where the file's will not do.

PlanRequest + Model ──> new input shapes ──> prepare (a worker that never invokes) ──> Question ──> Plan
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module

from outlive.arena.plan import Plan, PlannedInput, Question, Shapes, weakest
from outlive.arena.questions import PlanRequest, Shape, input_shapes
from outlive.model import Model
from outlive.units import format_shape

# New shapes of inputs by tensor index -> the shapes of all tensors then, and what went wrong, if anything.
Prepare = Callable[[Mapping[int, Shape]], tuple[Shapes, str]]

_PLANNERS = {
    "cpu": ("outlive.arena.xnnpack.planning", "plan_xnnpack"),
    "builtin": ("outlive.arena.builtin.planning", "plan_builtin"),
    "reference": ("outlive.arena.builtin.planning", "plan_builtin"),
    "tflm": ("outlive.arena.tflm.planning", "plan_tflm"),
}
_FROM_RUNTIME = "shapes of tensors as LiteRT gives them, prepared in a worker and not run"
_NO_RESIZE_ON_TFLM = (
    "TensorFlow Lite Micro cannot resize: this is the plan of the model converted anew for these inputs, "
    "with the shapes that LiteRT's builtin kernels give"
)
_EXTRAPOLATED = (
    "whether the runtime takes this batch: this machine's memory is not enough to ask it, so shapes of "
    "tensors are worked out from batches of 2, 3 and 4"
)


class CannotResize(ValueError):
    """The model does not take these shapes, or they cannot be found out; the text says why."""


def answer(model: Model, request: PlanRequest, prepare: Prepare) -> Plan:
    """The plan for a request. ValueError for shapes, names and settings that cannot be."""
    resized = input_shapes(model, request)
    if resized:
        return _answer_resized(model, request, resized, prepare)
    plan = _ask(model, request.question())
    if not plan.needs_runtime_shapes:
        return plan
    shapes, problem = prepare({})
    if problem:
        said = f"shapes of tensors: the file's, because the runtime could not prepare the model ({problem})"
        return replace(plan, exact=False, bound="lower", unknown=(*plan.unknown, said))
    plan = _ask(model, request.question(shapes))
    return replace(plan, assumed=(*plan.assumed, _FROM_RUNTIME))


def _ask(model: Model, question: Question) -> Plan:
    room, name = _PLANNERS[question.accelerator]
    planner: Callable[[Model, Question], Plan] = getattr(import_module(room), name)
    return planner(model, question)


def _answer_resized(
    model: Model, request: PlanRequest, resized: Mapping[int, Shape], prepare: Prepare
) -> Plan:
    shapes, problem = prepare(resized)
    larger = _extrapolate(resized, prepare) if "memory" in problem else None
    if problem and larger is None:
        wanted = ", ".join(f"{_name(model, index)} at {format_shape(new)}" for index, new in resized.items())
        raise CannotResize(f"the model cannot be planned with {wanted}: {problem}")
    shapes = larger or shapes
    plan = _ask(model, request.question(shapes))
    inputs = tuple(
        PlannedInput(item.name, shapes.get((0, item.index), item.shape), item.dtype) for item in model.inputs
    )
    note = _NO_RESIZE_ON_TFLM if request.accelerator == "tflm" else _FROM_RUNTIME
    plan = replace(plan, inputs=inputs, assumed=(*plan.assumed, note))
    if larger is None:
        return plan
    bound = weakest((plan.bound, "estimate"))
    return replace(plan, exact=False, bound=bound, unknown=(*plan.unknown, _EXTRAPOLATED))


def _name(model: Model, index: int) -> str:
    return next((item.name for item in model.inputs if item.index == index), "")[:80] or f"input {index}"


def _extrapolate(resized: Mapping[int, Shape], prepare: Prepare) -> Shapes | None:
    """Shapes for a batch too large to be prepared here: every dimension grows evenly with the batch.

    Batches of 2 and 3 give the step, 4 has to confirm it; None if they do not, or it is not the batch that is
    large.
    """
    batch = {shape[0] for shape in resized.values() if shape}
    if len(batch) != 1 or max(batch) <= 4:
        return None
    trials = [prepare({index: (size, *shape[1:]) for index, shape in resized.items()}) for size in (2, 3, 4)]
    two, three, four = (shapes for shapes, _ in trials)
    if any(problem for _, problem in trials) or _along(two, three, 2) != dict(four):
        return None
    return _along(two, three, max(batch) - 2)


def _along(two: Shapes, three: Shapes, steps: int) -> dict[tuple[int, int], Shape]:
    return {
        place: tuple(
            low + steps * (high - low) for low, high in zip(shape, three.get(place, ()), strict=False)
        )
        for place, shape in two.items()
    }
