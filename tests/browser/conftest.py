"""Reports of every kind, made by the real commands on models that ship with outlive, once for all tests."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from outlive import demo_models
from outlive.cli.main import main
from tests.browser.chromium import chromium

# The words of each command, and the exit code it has to end with.
COMMANDS = {
    "report": ("report healthy.tflite --device raspberry-pi-zero-2-w -o", 0),
    "report-deadly": ("report deadly.tflite -o", 3),
    "report-int8": ("report healthy_int8.tflite --reference healthy.tflite -o", 0),
    "plan": ("plan too_big.tflite --accelerator builtin --ram 64MB --format html --output", 4),
    "check": ("check wasteful.tflite deadly.tflite --format html --output", 1),
    "run": ("run healthy.tflite --repeat 5 --format html --output", 0),
    "diagnose": ("diagnose deadly.tflite --format html --output", 3),
    "delegates": ("delegates healthy.tflite --only xnnpack --format html --output", 0),
    "compare": ("compare healthy.tflite healthy_int8.tflite --format html --output", 0),
    "leak": ("leak healthy.tflite --cycle invoke --repeat 60 --format html --output", 0),
    # Its output is the model it makes; the page goes to standard output.
    "fit": ("fit healthy.tflite --ram 400KB --format html", 0),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for the tests of a file: while it is there no other event loop can run in this thread."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a command by its name, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("pages")
    for model in demo_models.DEMO_MODELS:
        shutil.copy(demo_models.path(model.name), folder)
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            words, promised = COMMANDS[name]
            path = folder / f"{name}.html"
            given = [str(folder / word) if word.endswith(".tflite") else word for word in words.split()]
            told = io.StringIO()
            with contextlib.redirect_stdout(told):
                assert main(given if name == "fit" else [*given, str(path)]) == promised
            if name == "fit":
                path.write_text(told.getvalue(), "utf-8")
            made[name] = path
        return made[name]

    return make
