"""`quantize`: a float model quantized in a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlive.model import Model, Source
from outlive.verbs.convert import convert
from outlive.verbs.judging import JUDGE
from outlive.verbs.opening import sound
from outlive.verbs.progress import heard

if TYPE_CHECKING:
    from outlive.quant.nouns import Quantized


@heard
def quantize(
    source: Source | Model,
    recipe: Any = "dynamic-int8",
    samples: Any = None,
    *,
    skip: Sequence[str] = (),
    only: Sequence[str] = (),
    io: str = "float",
    memory: str | int | None = None,
    seconds: float | None = None,
    until: Any = None,
    metrics: Mapping[str, Callable[..., float]] | None = None,
    tell: Callable[[int], None] = lambda sample: None,
) -> Quantized:
    """A float model quantized by ai-edge-quantizer in a worker: `.model`, `.save(path)`, `.layers`.

    `recipe` is dynamic-int8, weight-only-int8, weight-only-int4, fp16, static-int8, static-int16x8, a .json
    file or its rows; static ones need `samples` (as for `compare`). `skip` and `only` choose operators.
    `until={"sqnr": 30}` or `{"agreement": 0.99}` keeps the worst layers float until the target is met; names
    of `metrics` (as for `compare`) can stand there too, or it is a function of a Drift.
    A Keras model (.keras, .h5 or an object) or a SavedModel is converted first, by TensorFlow in a worker.
    """
    from outlive.quant.lending import needs_conversion
    from outlive.rendering.drift_verdict import quantize_source

    if needs_conversion(source):
        source = convert(source, memory=memory, seconds=seconds).model
    return quantize_source(
        sound(source),
        recipe,
        samples,
        skip=skip,
        only=only,
        io=io,
        memory=memory,
        seconds=seconds,
        until=until,
        metrics=metrics,
        tell=tell,
        judge=JUDGE,
    )
