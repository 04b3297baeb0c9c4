"""Fragments in changes/ are well named, short, and render into the change log."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FRAGMENTS = sorted(path for path in (ROOT / "changes").glob("*") if path.name != "README.md")
KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "removed": "Removed"}
LONGEST = 300


def towncrier(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--version=9.9.9", "--date=2030-01-01", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The configuration and the change log, with a fragment of each kind."""
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "changes").mkdir()
    for kind in KINDS:
        (tmp_path / "changes" / f"+topic-{kind}.{kind}.md").write_text(f"What is {kind}.\n", "utf-8")
    return tmp_path


def test_our_fragments_render() -> None:
    drawn = " ".join(towncrier(ROOT, "--draft").split())
    for path in FRAGMENTS:
        assert " ".join(path.read_text("utf-8").split()) in drawn


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_a_fragment_is_short_and_says_its_kind(path: Path) -> None:
    topic, kind, suffix = path.name.rsplit(".", 2)
    assert suffix == "md"
    assert kind in KINDS
    assert topic.startswith("+") or topic.isdigit()
    assert 0 < len(path.read_text("utf-8").strip()) <= LONGEST


def test_a_release_puts_each_kind_above_the_last_version(project: Path) -> None:
    before = (project / "CHANGELOG.md").read_text("utf-8")
    towncrier(project, "--yes")
    after = (project / "CHANGELOG.md").read_text("utf-8")
    released, marker, older = after.partition("\n## 9.9.9 (2030-01-01)\n")
    assert marker
    assert released.startswith("# Changelog\n")
    for kind, title in KINDS.items():
        assert f"### {title}\n\n- What is {kind}.\n" in older
    assert older.index("## 0.1.0") > older.index("What is removed.")
    assert before.partition("## 0.1.0")[2].strip() == older.partition("## 0.1.0")[2].strip()
    assert not list((project / "changes").glob("*.md"))


def test_entries_of_the_change_log_are_short() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    entries = [line for line in lines if line.startswith("- ")]
    assert entries
    assert [line for line in entries if len(line) > LONGEST] == []
    assert [line for line in lines if line.startswith("  ")] == []  # an entry is one line
