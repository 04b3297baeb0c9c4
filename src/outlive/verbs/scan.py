"""`scan`: one table of many models."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlive.verbs.judging import JUDGE

if TYPE_CHECKING:
    from outlive.arena.devices import Device
    from outlive.fleet.comparing import Tolerances
    from outlive.fleet.nouns import Task
    from outlive.fleet.rows import Row
    from outlive.fleet.scanning import Scan, Tally

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def scan(
    paths: Paths,
    *,
    devices: Sequence[str | Device] = (),
    run: bool = False,
    delegates: bool = False,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    against: str | os.PathLike[str] | None = None,
    tolerances: Tolerances | None = None,
    on: str | None = None,
    jobs: int | None = None,
    cache: bool = True,
    tell: Callable[[Tally], None] = lambda tally: None,
    **options: Any,
) -> Scan:
    """One table of many models: read, checked, planned, with `run` also run and diagnosed. Iterate for rows.

    `paths` are files, folders, patterns ("models/**/*.tflite") or lists ("@list.txt"). `output` is a .jsonl
    file that rows are written to as they come; with `resume` those it has are not done again. `against` is
    the file of an older scan: `.comparison` says what got worse. `on` is "local" (`jobs` processes),
    "dask://HOST", "ray://HOST", or "joblib" for what `joblib.parallel_config` says. `options`: repeat
    (calls of each run), seconds (for a call), memory (of all that run at once), accelerator, select, ignore.
    Nothing is raised because of what a file is or does; ValueError for what there is not.
    """
    from outlive.cache import ResultCache, cache_folder
    from outlive.fleet.gathering import gather
    from outlive.fleet.ordering import make_order
    from outlive.fleet.scanning import scan_files

    named = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return scan_files(
        gather([os.fspath(word) for word in named]), make_order(devices, run, delegates, **options),
        examine=examine, output=None if output is None else Path(output), resume=resume, on=on, jobs=jobs,
        cache=ResultCache(cache_folder("scan")) if cache else None,
        against=None if against is None else Path(against), tolerances=tolerances, tell=tell,
    )  # fmt: skip


def examine(task: Task) -> Row:
    """What an engine process does with one file."""
    from outlive.fleet.looking import look
    from outlive.fleet.nest import NEST, go_with

    if task.owner == os.getpid():
        return look(task, JUDGE)  # threads of the user's own process: its workers may be in use
    go_with(task.owner)
    with NEST.task():
        return look(task, JUDGE)
