"""Programs that run notebooks without a Jupyter server say why a kernel died: real ones, real deaths."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.deaths.restrictions import linux_only
from tests.jupyter.jupyter_server import TIMEOUT_S

pytestmark = linux_only

PROGRAMS = Path(sys.executable).parent
CRASH = "import faulthandler\ndef innermost():\n    faulthandler._sigsegv()\ninnermost()"
SENTENCE = (
    "Cell [2] died: segmentation fault (SIGSEGV) at cell [2]:3 in innermost. "
    "Begin the cell with %%outlive: it then runs in a worker, and the kernel outlives it."
)
LIBRARY = """import sys, nbformat, nbclient
try:
    nbclient.execute(nbformat.read(sys.argv[1], 4), kernel_name="python3")
except nbclient.exceptions.DeadKernelError as error:
    sys.exit(str(error))
"""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Nothing of the user's own, and nothing that an earlier test has left."""
    folders = {
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "IPYTHONDIR": str(folder / "ipython"),
        "OUTLIVE_BLACKBOX_DIR": str(folder / "records"),
    }
    inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {**inherited, **folders, **more}


def run(folder: Path, words: list[str], source: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A program with a notebook of two cells, the second of which is `source`."""
    cells = [new_code_cell("x = 1"), new_code_cell(source)]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": spec}), folder / "given.ipynb")
    return subprocess.run(
        [str(PROGRAMS / words[0]), *words[1:]],
        env=environment(folder, **more), cwd=folder, capture_output=True, text=True, check=False,
        timeout=TIMEOUT_S,
    )  # fmt: skip


RUNNERS = {
    "jupyter execute": (["jupyter", "execute", "given.ipynb"], {}),
    "papermill": (["papermill", "given.ipynb", "done.ipynb"], {}),
    "nbclient": (
        ["python", "-c", LIBRARY, "given.ipynb"],
        {"JUPYTER_DEFAULT_PROVISIONER_NAME": "outlive-watched"},
    ),
}


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_death_is_explained_in_the_error(runner: str, tmp_path: Path) -> None:
    words, more = RUNNERS[runner]
    if runner == "papermill":
        pytest.importorskip("papermill", reason="needs papermill: pip install papermill")
    done = run(tmp_path, words, CRASH, **more)
    assert done.returncode != 0
    assert done.stderr.rstrip().endswith(f"Kernel died. {SENTENCE}"), done.stderr
    assert [path.suffix for path in (tmp_path / "records").iterdir()] == [".json"]
    if runner == "papermill":  # it writes the notebook it has run, and the cell that died has the card
        (shown,) = nbformat.read(tmp_path / "done.ipynb", 4).cells[1].outputs
        assert "Segmentation fault in native code: SIGSEGV" in shown.data["text/plain"]
        assert "<script" not in shown.data["text/html"]


@pytest.mark.parametrize("runner", ["jupyter execute", "papermill"])
def test_a_notebook_that_ends_well_leaves_nothing(runner: str, tmp_path: Path) -> None:
    words, more = RUNNERS[runner]
    done = run(tmp_path, words, "print(6 * 7)", **more)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "records").iterdir()) == []


def test_without_recording_the_error_is_that_of_nbclient(tmp_path: Path) -> None:
    words, _ = RUNNERS["jupyter execute"]
    done = run(tmp_path, words, CRASH, OUTLIVE_BLACKBOX="off")
    assert done.stderr.rstrip().endswith("nbclient.exceptions.DeadKernelError: Kernel died")


class Console:
    """`jupyter console` at a terminal."""

    def __init__(self, folder: Path) -> None:
        self._terminal, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [str(PROGRAMS / "jupyter"), "console", "--simple-prompt"],
            env=environment(folder, TERM="dumb"), cwd=folder, start_new_session=True,
            stdin=theirs, stdout=theirs, stderr=theirs,
        )  # fmt: skip
        os.close(theirs)
        self.said = ""

    def wait_for(self, words: str) -> None:
        """Read on until it has said this."""
        end = time.monotonic() + TIMEOUT_S
        while words not in self.said:
            assert time.monotonic() < end, self.said
            if select.select([self._terminal], [], [], 1)[0]:
                self.said += os.read(self._terminal, 65536).decode(errors="replace")

    def enter(self, line: str) -> None:
        os.write(self._terminal, f"{line}\r".encode())

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._terminal)


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    pytest.importorskip("jupyter_console", reason="needs Jupyter's console: pip install jupyter-console")
    found = Console(tmp_path)
    try:
        yield found
    finally:
        found.close()


def test_a_console_says_it_in_a_line(console: Console) -> None:
    console.wait_for("In [1]")
    console.enter("x = 1")
    console.wait_for("In [2]")
    console.enter("import os; os.abort()")
    console.wait_for(
        "outlive: Cell [2] died: abort in native code (SIGABRT) at cell [2]:1 in <module>. Begin"
    )
