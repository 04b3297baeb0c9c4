"""The same fault of a file has the same code at every entry point, found before a runtime can crash on it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import outlive
from tests.deaths.scenes import HEALTHY

SOUND = Path(HEALTHY).read_bytes()
CONTENTS: dict[str, bytes | None] = {
    "F101": None,
    "F102": b"",
    "F104": b"version https://git-lfs.github.com/spec/v1\noid sha256:00aa\nsize 1234567\n",
    "F105": b"<!DOCTYPE html><html><body>Not found</body></html>",
    "F107": b"label one\nlabel two\n",
    "F110": SOUND[: len(SOUND) // 2],
}


def with_litert(path: str) -> None:
    from ai_edge_litert.interpreter import Interpreter

    Interpreter(path)


def printed(path: str) -> str:
    """What LiteRT prints in a plain process."""
    code = f"from ai_edge_litert.interpreter import Interpreter\nInterpreter({path!r})\n"
    script = Path(path).with_name("plain.py")
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode
    return done.stderr


def in_notebook(path: str) -> Any:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    done = shell.run_cell(f"import outlive\noutlive.Interpreter({path!r})", silent=True)
    raise done.error_in_exec


def raises(call: Callable[[str], Any]) -> Callable[[str], str]:
    """The code of the finding that the error of a call bears."""

    def code(path: str) -> str:
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the finding says which
            call(path)
        return str(caught.value.finding.code)  # type: ignore[attr-defined]

    return code


ENTRY_POINTS: dict[str, Callable[[str], str]] = {
    "Interpreter": raises(outlive.Interpreter),
    "Interpreter with a limit": raises(lambda path: outlive.Interpreter(path, memory="512MB")),
    "CompiledModel": raises(outlive.CompiledModel.from_file),
    "run": raises(outlive.run),
    "plan": raises(outlive.plan),
    "read": raises(outlive.read),
    "check": lambda path: next(iter(outlive.check(path))).code,
    "diagnose": lambda path: str(getattr(outlive.diagnose(path).verdict, "code", "")),
    "autopsy": lambda path: outlive.autopsy(printed(path)).code,
    "notebook": raises(in_notebook),
}


@pytest.mark.parametrize("code", CONTENTS)
@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_a_fault_has_one_code(name: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    content = CONTENTS[code]
    if content is not None:
        path.write_bytes(content)
    assert ENTRY_POINTS[name](str(path)) == code


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_a_folder_has_one_code(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.mkdir()
    assert ENTRY_POINTS[name](str(path)) == "F103" or name == "check"


def test_a_guarded_function_bears_the_finding(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Could not open") as caught:
        outlive.guard(with_litert)(str(tmp_path / "gone.tflite"))
    assert caught.value.finding.code == "F101"  # type: ignore[attr-defined]


def test_a_guarded_script_has_the_finding(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from ai_edge_litert.interpreter import Interpreter\nInterpreter('gone.tflite')\n")
    end = outlive.guard(str(script))()
    assert [finding.code for finding in end.findings] == ["F101"]
