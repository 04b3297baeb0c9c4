"""Runs the notebooks of examples/ and writes what their cells show into them, so that code hosts show it.

    python tools/run_examples.py               all of them, in place
    python tools/run_examples.py 02 --out DIR  one of them, into another folder: tests/jupyter does so

Each runs in a kernel and a folder of its own. What differs between two machines or runs (folders, times,
process numbers) is left out or made alike; `comparable` says what must agree. Numbers that depend on the
machine are masked in a cell with the tag `varies`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from docs_pages import mask
from nbclient import NotebookClient

import outlive

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# Colours of a terminal, in tracebacks.
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_NUMBER = re.compile(r"\d[\d,.]*")
# ipykernel's name for a cell's code.
_CELL = re.compile(r"(?:/[\w.-]+)+/ipykernel_\d+/\d+\.py")
_TEXTS = ("text/plain", "text/html", "text/markdown")


def run(path: Path) -> tuple[Any, list[str]]:
    """The notebook with its outputs, and the cells that fail, or do not fail, against what is asked for."""
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    failed: set[int] = set()

    def note(cell: Any, cell_index: int, execute_reply: Any) -> None:
        if execute_reply["content"]["status"] == "error":
            failed.add(cell_index)

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLES / "models", Path(folder, "models"))
        Path(folder, "own").mkdir()
        client = NotebookClient(
            notebook, kernel_name="python3", record_timing=False, allow_errors=True, timeout=None,
            resources={"metadata": {"path": folder}}, on_cell_executed=note, coalesce_streams=True,
        )  # fmt: skip
        client.execute(env=_environment(folder))
        _make_alike(notebook, folder)
    return notebook, [
        f"cell {place}: {'fails' if place in failed else 'does not fail'}:\n{cell.source}\n{cell.outputs}"
        for place, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and (place in failed) != _is_to_fail(cell)
    ]


def comparable(notebook: Any) -> list[list[str]]:
    """What each code cell shows, in words, without what may differ (`mask` of docs_pages)."""
    shown = []
    for cell in (one for one in notebook.cells if one.cell_type == "code"):
        words = [mask(_words(output)) for output in cell.outputs]
        varies = "varies" in cell.metadata.get("tags", ())
        shown.append([_NUMBER.sub("#", text) for text in words] if varies else words)
    return shown


def _words(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    return str(output.data.get("text/plain", ""))


def _is_to_fail(cell: Any) -> bool:
    return "raises-exception" in cell.metadata.get("tags", ())


def _environment(folder: str) -> dict[str, str]:
    """Nothing of the user's own: no records of deaths, no cache, no start-up files."""
    own = {"OUTLIVE_BLACKBOX_DIR": "records", "OUTLIVE_CACHE": "cache", "IPYTHONDIR": "ipython"}
    inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {**inherited, **{name: str(Path(folder, "own", value)) for name, value in own.items()}}


def _make_alike(notebook: Any, folder: str) -> None:
    """Folders of this machine become those that a reader has."""
    replacements = {
        f"{os.path.realpath(folder)}/": "",
        f"{folder}/": "",
        str(Path(outlive.__file__).parent): "outlive",
        f"{sys.prefix}/": "",
        f"{sys.base_prefix}/": "",
        f"{Path.home()}/": "~/",
    }

    def alike(text: str) -> str:
        for old, new in replacements.items():
            text = text.replace(old, new)
        return _COLOURS.sub("", _CELL.sub("cell", text))

    for cell in (one for one in notebook.cells if one.cell_type == "code"):
        # What native code logs depends on the processor, and whether a progress bar was there on time.
        cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr" and _words(one)]
        for output in cell.outputs:
            _replace_texts(output, alike)


def _replace_texts(output: Any, alike: Callable[[str], str]) -> None:
    if output.output_type == "stream":
        output.text = alike(output.text)
    elif output.output_type == "error":
        output.traceback = [alike(line) for line in output.traceback]
        output.evalue = alike(output.evalue)
    else:
        output.data.update({kind: alike(output.data[kind]) for kind in _TEXTS if kind in output.data})


def main() -> int:
    """Run those that are asked for; exit code 1 if a cell does not end as it should."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("numbers", nargs="*", help="the first two digits of their names; all without it")
    parser.add_argument("--out", type=Path, default=EXAMPLES, help="where they are written to")
    args = parser.parse_args()
    wrong: list[str] = []
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        if not args.numbers or path.name[:2] in args.numbers:
            notebook, problems = run(path)
            nbformat.write(notebook, args.out / path.name)  # type: ignore[no-untyped-call]
            wrong += [f"{path.name}, {problem}" for problem in problems]
    sys.stderr.write("".join(f"{problem}\n" for problem in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
