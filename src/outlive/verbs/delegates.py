"""`delegates`: what each accelerator here takes of a model, and does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from outlive.model import Model, Source
from outlive.verbs.judging import JUDGE
from outlive.verbs.opening import content_of, sound
from outlive.verbs.progress import heard
from outlive.worker.limits import Limits

if TYPE_CHECKING:
    from outlive.accelerators import Coverage
    from outlive.worker.options import Delegate


@heard
def probe(
    source: Source | Model,
    *,
    only: Sequence[str] = (),
    delegates: Sequence[Delegate] = (),
    inputs: Any = None,
    limits: Limits | None = None,
    threads: int | None = None,
    seed: int = 0,
    cache: bool = True,
    bisect: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Coverage:
    """What each accelerator here takes of a model, and does: each is tried in a worker of its own.

    `only` names accelerators (default: all that are usual), `delegates` are libraries to try as well (see
    `load_delegate`). Outputs are compared with those of LiteRT's reference kernels on the same `inputs`.
    Nothing is raised because an accelerator dies, refuses or is not here: the coverage says so. `cache` keeps
    what was costly to find out; `bisect` looks for the operators that make one die or differ (`.culprit`);
    `tell` hears what is being tried. ValueError for a name that there is not.
    """
    from outlive.accelerators.asking import probe_source

    model = sound(source)
    given = os.fspath(source) if isinstance(source, (str, os.PathLike)) else content_of(model)
    return probe_source(
        model,
        given,
        only,
        delegates,
        inputs,
        limits,
        judge=JUDGE,
        threads=threads,
        seed=seed,
        cache=cache,
        bisect=bisect,
        tell=tell,
    )
