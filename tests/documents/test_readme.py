"""The README in a fresh clone with a fresh shell: its blocks are pasted in order, and end as it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r'^```(sh|python)\n(.*?)^```$(?:\n\n```text title="Output"\n(.*?)^```$)?', re.MULTILINE | re.DOTALL
)
PROMISED = re.compile(r"# exit (\d+)")
MARK = "@@ "
OFFLINE = re.compile(
    r"(?i)name resolution|network is unreachable|connection (?:refused|error|broken)|max retries"
)


def clone(folder: Path) -> Path:
    """What git has of this tree, with what is not committed yet."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def fresh_shell() -> dict[str, str]:
    """What a new shell has: no environment of ours, no outlive on its PATH."""
    own = Path(sys.prefix)
    paths = [path for path in os.environ["PATH"].split(os.pathsep) if not Path(path).is_relative_to(own)]
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "http", "HTTP"))
    }
    python = getattr(sys, "_base_executable", sys.executable)
    return kept | {"PATH": os.pathsep.join(paths), "PYTHON": python, "LANG": "C.UTF-8"}


def pasted(text: str) -> Iterator[tuple[str, int]]:
    """What is pasted, one line or program at a time, and the exit code that the README promises."""
    for kind, block, _ in BLOCK.findall(text):
        if kind == "python":
            yield f"python <<'PROGRAM'\n{block}PROGRAM", 0
            continue
        for line in block.splitlines():
            promised = PROMISED.search(line)
            yield line, int(promised[1]) if promised else 0


def test_every_block_works_when_pasted_in_order(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    folder = clone(tmp_path / "clone")
    lines = list(pasted((folder / "README.md").read_text("utf-8")))
    script = "".join(f"{line}\necho '{MARK}'$?\n" for line, _ in lines)
    environment = fresh_shell() | {"HOME": str(tmp_path / "home")}
    assert shutil.which("outlive", path=environment["PATH"]) is None
    done = subprocess.run(
        ["bash", "--noprofile", "--norc"], input=script, cwd=folder, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    *parts, _ = re.split(rf"^{MARK}\d+\n", done.stdout, flags=re.MULTILINE)
    codes = [int(code) for code in re.findall(rf"^{MARK}(\d+)$", done.stdout, re.MULTILINE)]
    if codes[0] and OFFLINE.search(done.stderr):
        pytest.skip("needs a package index: `make demo` installs outlive from it")
    assert [(line, code) for (line, _), code in zip(lines, codes, strict=True)] == lines, done.stderr
    assert "SIGSEGV" in parts[5] or "Segmentation fault" in parts[5]
    assert parts[6] == "died in LOCAL_RESPONSE_NORMALIZATION\n"
    assert parts[7] == "6\n"


def test_the_first_screen_is_short() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    first = text.partition("\n## Questions it answers")[0]
    assert len(first.splitlines()) <= 60
    assert first.count("![") == 1, "one picture on the first screen"
    for name in (
        "## Alternatives",
        "## Platforms",
        "## Known limitations",
        "## Five numbers",
        "outlive[jupyter]",
    ):
        assert name in text
    assert len(re.findall(r"^- \*\*", text.partition("## Five numbers")[2], re.MULTILINE)) == 5


def test_what_is_pasted_is_what_is_shown() -> None:
    text = "```sh\na\nb  # exit 4: no\n```\n```python\nc\n```\n```console\n$ d\n```\n"
    assert list(pasted(text)) == [("a", 0), ("b  # exit 4: no", 4), ("python <<'PROGRAM'\nc\nPROGRAM", 0)]
