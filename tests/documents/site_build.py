"""Builds the site somewhere else, so that nothing is written into the tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def build_site(folder: Path, docs: Path, settings: str) -> Path:
    """Build these pages with these settings; the folder of the site. A warning is an error."""
    pytest.importorskip("zensical", reason="needs zensical: pip install -e '.[dev]' -c constraints.txt")
    shutil.copytree(docs, folder / "docs")
    (folder / "zensical.toml").write_text(settings, "utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"
