"""Parts of models whose inputs have new shapes: the runtime says what the other tensors become."""

from dataclasses import replace

from outlive.interpreter.prepared_shapes import Shapes, preparer
from outlive.model import Model
from outlive.surgery import Cut, CutRequest, cut_model
from outlive.units import format_shape


def cut_part(model: Model, request: CutRequest) -> Cut:
    """The part asked for; with new input shapes, every tensor of it has the shape that LiteRT gives it.

    ValueError if the runtime takes the part, but not with these shapes.
    """
    part = cut_model(model, request)
    if not request.input_shapes:
        return part
    shapes, problem = preparer(part.model)({})
    if not problem:
        return cut_model(model, request, _new_shapes(model, part, shapes))
    as_it_was = cut_model(model, replace(request, input_shapes={}))
    if "memory" not in problem and not preparer(as_it_was.model)({})[1]:
        tried = ", ".join(f"{item.name[:80]!r} at {format_shape(item.shape)}" for item in part.inputs[:8])
        raise ValueError(f"the runtime does not take this part with {tried}: {problem}")
    return replace(part, state=(*part.state, f"shapes between inputs and outputs are the file's: {problem}"))


def _new_shapes(model: Model, part: Cut, shapes: Shapes) -> dict[int, tuple[int, ...]]:
    """The shapes that differ from the file's, by tensor of the whole."""
    tensors = model.subgraphs[0].tensors
    found = {old: shapes.get((0, new)) for new, old in enumerate(part.tensors)}
    return {old: shape for old, shape in found.items() if shape is not None and shape != tensors[old].shape}
