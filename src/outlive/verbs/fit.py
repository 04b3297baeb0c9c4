"""`fit`: the way to run a model within a memory that loses least."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlive.model import Model, Source
from outlive.verbs.convert import convert
from outlive.verbs.judging import JUDGE
from outlive.verbs.opening import sound
from outlive.verbs.progress import heard

if TYPE_CHECKING:
    from outlive.arena.devices import Device
    from outlive.fitting.nouns import Fit


@heard
def fit(
    source: Source | Model,
    *,
    ram: str | int | None = None,
    device: str | Device | None = None,
    flash: str | int | None = None,
    samples: Any = None,
    metric: Callable[..., float] | str | None = None,
    tolerance: str | float | None = None,
    batch: int | None = None,
    inputs: Mapping[str, Sequence[int] | str] | None = None,
    accelerator: str | None = None,
    threads: int | None = None,
    every: bool = False,
    seconds: float | None = None,
    jobs: int | None = None,
    cache: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> Fit:
    """The way to run a model within a memory that loses least: `.chosen`, `.candidates`, `.model`, `.save`.

    Settings, waste, batch, recipes of quantization and smaller pictures are planned, built and run, each in a
    worker limited to `ram` (or what the `device` has), until something fits; with `every`, all of them.
    `samples` are as for `compare`. `metric` is a function of `predict`, or of outputs and samples, or
    "file.py:name"; more is better. `tolerance` is the most it may lose: 0.01 or "1%", of the original's score
    where that is not between 0 and 1. `batch` and `inputs` are shapes to start from.
    Keras models and SavedModels are converted first, and again for shapes that the .tflite does not take.
    Nothing is raised because nothing fits: `.chosen` is None then, and `.shortage` says what is missing.
    `tell` hears what is being tried; Ctrl-C ends the search, and what is known by then is the result.
    """
    from outlive.fitting.goals import fit_model, make_goal
    from outlive.quant.lending import needs_conversion

    goal = make_goal(
        ram=ram, device=device, flash=flash, samples=samples, metric=metric, tolerance=tolerance, cache=cache,
        accelerator=accelerator, threads=threads, every=every, seconds=seconds, jobs=jobs, tell=tell,
        judge=JUDGE,
    )  # fmt: skip
    converted = needs_conversion(source)
    model = sound(convert(source, seconds=seconds).model if converted else source)
    return fit_model(model, goal, batch, inputs, source if converted else None)
