"""Paths of somebody's machine are found in what git has, and in a plain folder."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.places import machine_paths, project_files

ROOT = "/ro" + "ot"
WORK = "/wo" + "rk"


@pytest.mark.parametrize(
    "text",
    [
        f"see {WORK}/main/x.py",
        f"'{ROOT}/.bashrc'",
        f"file://{WORK}/x",
        f"cd {WORK}",
        "pip -f /opt/" + "wheels",
    ],
)
def test_a_machine_path_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.md").write_text(f"first line\n{text}\n", encoding="utf-8")
    (problem,) = machine_paths(tmp_path)
    assert "notes.md:2: holds the machine's path" in problem


@pytest.mark.parametrize("text", [f"frame{WORK}/x", f"..{ROOT}/x", f"{ROOT}s of a tree", f"{WORK}shop/a"])
def test_words_that_look_alike_are_fine(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.md").write_text(text, encoding="utf-8")
    assert machine_paths(tmp_path) == []


def test_binary_files_and_caches_are_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(f"\0{WORK}/x".encode())
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text(f"home = {ROOT}/bin", encoding="utf-8")
    assert machine_paths(tmp_path) == []


@pytest.mark.skipif(
    shutil.which("git") is None, reason="git is not installed, and this is about what git has"
)
def test_what_git_ignores_is_not_ours(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name in (".gitignore", "seen.txt", "ignored.txt"):
        (tmp_path / name).write_text("ignored.txt\n", encoding="utf-8")
    assert [path.name for path in project_files(tmp_path)] == [".gitignore", "seen.txt"]
