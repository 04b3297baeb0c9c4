"""Builds the browser's extension of Jupyter from jupyterlab/, and notes of which sources.

What is built is committed, so that an installation needs no Node. To build it, Node 20 and npm are needed;
the lockfile names the versions. `built_from.json` has the sources' hashes, which tests/jupyter compares.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "jupyterlab"
_SOURCES = ("src/*", "style/*", "package.json", "package-lock.json", "tsconfig.json")


def main() -> int:
    """Install what is needed to build, build, and note the hashes."""
    if shutil.which("npm") is None:
        sys.stderr.write("build_labextension: needs Node 20 and npm\n")
        return 1
    bin_folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": os.pathsep.join((bin_folder, os.environ["PATH"]))}
    if not (ROOT / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=ROOT, env=environment, check=True)
    shutil.rmtree(ROOT / "labextension", ignore_errors=True)
    subprocess.run(["npm", "run", "--silent", "build"], cwd=ROOT, env=environment, check=True)
    (ROOT / "built_from.json").write_text(json.dumps(hashes(), indent=2) + "\n")
    return 0


def hashes() -> dict[str, str]:
    """The sources and their hashes."""
    paths = sorted(path for pattern in _SOURCES for path in ROOT.glob(pattern))
    return {
        path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths
    }


if __name__ == "__main__":
    sys.exit(main())
