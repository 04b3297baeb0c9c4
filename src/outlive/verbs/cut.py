"""`cut`: a part of a model as a separate model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from outlive.arena.questions import check_shape
from outlive.errors import ModelError
from outlive.model import Model, Source, read_source
from outlive.planning.reshaping import cut_part
from outlive.rules import assess
from outlive.surgery import Cut, CutRequest, Ops, TensorName, UnknownOptions
from outlive.verbs.read import sound


def cut(
    source: Source | Model,
    ops: Ops | None = None,
    outputs: Sequence[TensorName] | TensorName | None = None,
    *,
    until: int | None = None,
    input_shapes: Mapping[TensorName, Sequence[int] | str] | None = None,
    make_input: Sequence[TensorName] | TensorName = (),
    make_constant: Mapping[TensorName, Any] | None = None,
) -> Cut:
    """Cut part of a model into a separate model: `.model` is its bytes, `.save(path)` writes them.

    `ops` are operators of the main subgraph: 5, [3, 7, 9], range(10, 20) or "10:20"; `until=12` stands for
    all up to and including 12. `outputs` are tensors by name or index; without `ops`, the part is what they
    need. Results of operators that are left out become inputs. `make_input` turns constants and intermediate
    tensors into inputs, `make_constant` gives a tensor a fixed value, `input_shapes` fixes shapes: a worker
    that never invokes the model computes the other shapes. Raises ValueError for unknown names and numbers,
    `ModelError` for parts that the schema does not know.

    >>> outlive.cut("healthy.tflite", ops="2:5")
    Cut(healthy.tflite: 3 operators, ... KiB)
    """
    request = CutRequest(
        ops=ops,
        until=until,
        outputs=outputs,
        input_shapes={name: check_shape(shape) for name, shape in (input_shapes or {}).items()},
        make_input=make_input,
        make_constant=make_constant or {},
    )
    model = sound(source)
    try:
        return replace(cut_part(model, request), whole=model)
    except UnknownOptions as error:
        raise _uncopied(model, error) from error


def _uncopied(model: Model, error: Exception) -> ModelError:
    """The error for a part of the file that cannot be copied, since its kind is unknown."""
    from outlive.rendering.finding_text import plain_finding

    findings = assess(read_source(model)).findings
    finding = next((item for item in findings if item.code == "F115"), findings[0])
    return ModelError(finding, f"{error}\n{plain_finding(finding)}")
