"""What a record holds of a real kernel, what it does not, and what recording costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deaths import scenes
from tests.deaths.restrictions import linux_only
from tests.jupyter.kernel import Kernel, started
from tests.kernel_deaths.test_deaths_of_kernels import LOAD, wait_for

pytestmark = linux_only


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("box")


@pytest.fixture(scope="module")
def kernel(shelf: Path) -> Iterator[Kernel]:
    with started(OUTLIVE_BLACKBOX_DIR=str(shelf)) as running:
        assert not running.run(LOAD).error
        yield running


def test_recording_costs_little_memory(kernel: Kernel) -> None:
    # Its recorder, and its tracer.
    assert all(scenes.private_bytes(child) < 10_000_000 for child in scenes.children(kernel.pid))


def test_the_parts_of_an_open_record_are_private(kernel: Kernel, shelf: Path) -> None:
    (folder,) = shelf.glob("*.open")
    assert oct(folder.stat().st_mode)[-3:] == "700"
    assert {oct(path.stat().st_mode)[-3:] for path in folder.iterdir()} == {"600"}


def test_a_record_holds_no_values_and_no_outputs_and_is_small(kernel: Kernel, shelf: Path) -> None:
    kernel.run("secret = 'ab' * 3\nprint(secret)\nsecret")
    padding = "# a very long comment\n" * 50_000
    kernel.die(f"import os\nprint(secret[::-1])\nkept = os.fork\n{padding}os.abort()")
    (path,) = wait_for(lambda: list(shelf.glob("*.json")))
    text = path.read_text()
    assert "ababab" not in text
    assert "bababa" not in text
    assert len(text) < 60_000
    record = json.loads(text)
    assert record["cell"]["source"].startswith("import os\nprint(secret[::-1])")
    assert (record["status"] & 0x7F, record["busy"], record["cell"]["number"]) == (6, True, 3)


def test_it_can_be_switched_off(shelf: Path, tmp_path: Path) -> None:
    with started(OUTLIVE_BLACKBOX="off", OUTLIVE_BLACKBOX_DIR=str(tmp_path)) as kernel:
        assert not kernel.run(LOAD).error
        assert scenes.children(kernel.pid) == set()
        assert kernel.run("import os; os._exit.__module__").plain() == "'posix'"
    assert list(tmp_path.iterdir()) == []
