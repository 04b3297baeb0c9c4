"""The models that ship with outlive, for `outlive demo`, which is for the command line only."""

import os
from collections.abc import Iterator
from pathlib import Path

from outlive.atomic_files import write_whole
from outlive.demo_models import DEMO_MODELS, path


def demo_path(name: str) -> str:
    """Where the demo model of that name lies."""
    return str(path(name))


def demo_paths() -> list[str]:
    """Where all of them lie."""
    return [demo_path(model.name) for model in DEMO_MODELS]


def copy_demo_models(folder: str | os.PathLike[str]) -> Iterator[tuple[Path, str]]:
    """Copy them to a folder; each copy as it is made, and what it is for."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for model in DEMO_MODELS:
        copy = Path(folder) / model.file
        write_whole(copy, path(model.name).read_bytes())
        yield copy, model.what
