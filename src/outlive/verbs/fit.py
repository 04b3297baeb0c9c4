"""`fit`: the way to run a model within a memory that loses least."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from outlive.arena.devices import Device
from outlive.atomic_files import write_whole
from outlive.fitting import Fit
from outlive.fitting.load_script import is_ours, loading_snippet, stale_caches
from outlive.fitting.search import fit_model, make_goal
from outlive.model import Model, Source
from outlive.quant.quantization import needs_conversion
from outlive.verbs.convert import convert
from outlive.verbs.judging import JUDGE
from outlive.verbs.progress import heard
from outlive.verbs.read import sound

JSON_NAME, SNIPPET_NAME, _MODEL_NAME = "fit.json", "load.py", "model.tflite"


@heard
def fit(
    source: Source | Model,
    *,
    ram: str | int | None = None,
    device: str | Device | None = None,
    flash: str | int | None = None,
    samples: Any = None,
    metric: Callable[..., float] | str | None = None,
    max_loss: str | float | None = None,
    batch: int | None = None,
    inputs: Mapping[str, Sequence[int] | str] | Sequence[str] = (),
    accelerator: str | None = None,
    threads: int | None = None,
    all: bool = False,
    seconds: float | None = None,
    jobs: int | None = None,
    cache: bool = True,
    tell: Callable[[str], None] = lambda _: None,
    tolerance: str | float | None = None,
    every: bool = False,
) -> Fit:
    """Make a model fit into a memory budget with the least loss: `.chosen`, `.candidates`, `.model`, `.save`.

    The search plans, builds and runs settings, smaller batches, recipes of quantization and smaller images,
    each in a worker that is limited to `ram` (or the memory of the `device`), until something fits; with
    `all` it tries everything. `samples` are as for `compare`. `metric` is a function of `predict`, or of
    outputs and samples, or "file.py:name"; higher is better. `max_loss` is the largest loss: 0.01 or "1%", as
    a share of the score of the original if that is not between 0 and 1. `batch` and `inputs` ({"image": (1,
    64, 64, 3)} or ["image=1x64x64x3"]) are shapes to start from. `tolerance` and `every` are older names of
    `max_loss` and `all`. Keras models and SavedModels are converted first, and again for shapes that the
    .tflite does not take. If nothing fits, nothing is raised: `.chosen` is None, and `.shortage` says what is
    missing. `tell` hears what is being tried; Ctrl-C ends the search, and the result so far is returned.

    >>> fit = outlive.fit("healthy.tflite", ram="4MB")
    >>> fit.chosen.verdict, fit[0].verdict
    ('fits', 'fits')
    """
    goal = make_goal(
        ram=ram, device=device, flash=flash, samples=samples, metric=metric, cache=cache, every=all or every,
        accelerator=accelerator, threads=threads, seconds=seconds, jobs=jobs, tell=tell,
        max_loss=tolerance if max_loss is None else max_loss, judge=JUDGE,
    )  # fmt: skip
    converted = needs_conversion(source)
    model = sound(convert(source, seconds=seconds).model if converted else source)
    return fit_model(model, goal, batch, inputs or (), source if converted else None)


def save_targets(output: str) -> tuple[Path, Path, Path]:
    """Where a search's model, document and Python file go; ValueError if a file there is no search's."""
    model, document, snippet = _targets(output)
    if document.exists() and not _is_a_search(document):
        stranger = document
    elif snippet.exists() and not is_ours(snippet):
        stranger = snippet
    else:
        return model, document, snippet
    raise ValueError(f"{stranger} is there already, and no search wrote it: name another place with -o")


def _targets(output: str) -> tuple[Path, Path, Path]:
    path = Path(output)
    is_folder = path.is_dir() or output.endswith("/") or not path.suffix
    folder = path if is_folder else path.parent
    return (path / _MODEL_NAME if is_folder else path), folder / JSON_NAME, folder / SNIPPET_NAME


def _is_a_search(path: Path) -> bool:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("kind") == "fit"


def save_fit(fit: Fit, output: str) -> Fit:
    """The same, written: the model, the document and the Python file; without a model, the document alone."""
    from outlive.rendering.media.json import document_of, dump

    model, document, snippet = _targets(output)
    document.parent.mkdir(parents=True, exist_ok=True)
    written = [str(document)]
    if fit.chosen is not None:
        fit.save(model)
        for cache in stale_caches(model, hashlib.sha256(fit.model).hexdigest()):
            cache.unlink(missing_ok=True)
        write_whole(snippet, loading_snippet(fit.chosen, fit.budget, model.name, beside=True))
        written = [str(model), str(document), str(snippet)]
    where = str(model) if fit.chosen is not None else None
    saved = replace(fit, written=where, written_files=tuple(written))
    write_whole(document, dump(document_of(saved)) + "\n")
    return saved
