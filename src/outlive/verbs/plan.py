"""`plan`: the memory a model will need, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from outlive.model import Model, Source
from outlive.verbs.read import read

if TYPE_CHECKING:
    from outlive.arena.plan import Plan


def plan(
    source: Source | Model,
    accelerator: str = "cpu",
    *,
    inputs: Mapping[str, Sequence[int] | str] | None = None,
    batch: int | None = None,
    threads: int | None = None,
    preserve_all_tensors: bool = False,
    weight_cache: bool = False,
    word: int | None = None,
    abi: str | None = None,
    kernels: str = "reference",
    measure: bool = False,
) -> Plan:
    """The memory a model will need, part by part, before anything is run.

    `accelerator` is "cpu" (XNNPACK), "builtin", "reference" or "tflm" (TensorFlow Lite Micro; `word`, `abi`
    and `kernels` are for it). `inputs` are other shapes by name, `batch` another first dimension of all
    inputs: what the tensors in between become is asked of the runtime, in a worker that never invokes.
    `measure=True` runs the model in a worker as well and puts what it took beside the plan. ValueError for
    shapes and names that cannot be.
    """
    from outlive.arena.questions import Wish, check_shape, choose_abi
    from outlive.fitting.planning import plan_model

    wish = Wish(
        accelerator=accelerator,
        inputs={name: check_shape(shape) for name, shape in (inputs or {}).items()},
        batch=batch,
        threads=threads,
        preserve_all_tensors=preserve_all_tensors,
        weight_cache=weight_cache,
        abi=choose_abi(word, abi),
        kernels=kernels,
    )
    return plan_model(read(source), wish, measure)
