"""`compare`: how far a candidate is from its reference, tensor by tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlive.model import Model, Source
from outlive.verbs.judging import JUDGE
from outlive.verbs.opening import sound
from outlive.verbs.progress import heard

if TYPE_CHECKING:
    from outlive.quant.nouns import Drift


@heard
def compare(
    reference: Source | Model,
    candidate: Source | Model,
    samples: Any = None,
    *,
    layers: Sequence[str | int] = (),
    metrics: Mapping[str, Callable[..., float]] | None = None,
    accelerator: str = "cpu",
    memory: str | int | None = None,
    born_here: bool = True,
    tell: Callable[[int, int, int], None] = lambda turn, turns, sample: None,
) -> Drift:
    """How far a candidate is from its reference, tensor by tensor: `.tensors`, `.outputs`, `.worst()`.

    `samples` are arrays, a mapping of names to arrays, an iterable of samples or a function that gives one,
    an .npz file or a folder. `layers` are types, names, patterns, indices or ranges ("10:20") of operators;
    `metrics` functions of an output of both, and, if they take a third argument, of the sample's number;
    `memory` bounds what is held at once (512MB, or what a single operator takes, if that is more).
    """
    from outlive.rendering.drift_verdict import compare_models

    return compare_models(
        sound(reference), sound(candidate), samples, layers=layers, metrics=metrics, memory=memory,
        accelerator=accelerator, born_here=born_here, tell=tell, judge=JUDGE,
    )  # fmt: skip
