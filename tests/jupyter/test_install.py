"""`outlive notebook install`: kernels load outlive by themselves, and show their last death."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from outlive.cli.main import main
from tests.deaths.restrictions import linux_only
from tests.jupyter.kernel import started

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return tmp_path / "ipython" / "profile_default" / "startup"


def test_it_is_one_file_that_can_be_removed(profile: Path, capsys: Capture) -> None:
    assert main(["notebook", "status"]) == main(["notebook", "uninstall"]) == 0
    assert not profile.exists()
    assert main(["notebook", "install"]) == main(["notebook", "install"]) == 0
    assert [path.name for path in profile.iterdir()] == ["50-outlive.py"]
    capsys.readouterr()
    assert main(["notebook", "status", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["installed"] is True
    assert main(["notebook", "uninstall"]) == 0
    assert list(profile.iterdir()) == []


@pytest.mark.parametrize("words", [["--profile", "../x"], ["--profile", ""], ["somehow"], []])
def test_mistakes_are_said(profile: Path, words: list[str], capsys: Capture) -> None:
    assert main(["notebook", "install", *words] if words[:1] == ["--profile"] else ["notebook", *words]) == 2
    assert not profile.exists()


def test_a_folder_that_cannot_be_written_to_is_said(profile: Path, capsys: Capture) -> None:
    profile.parent.parent.write_text("a file where a folder should be")
    assert main(["notebook", "install"]) == 2
    assert "cannot change" in capsys.readouterr().err


@linux_only
def test_a_kernel_loads_it_and_says_how_the_last_one_died(profile: Path, tmp_path: Path) -> None:
    assert main(["notebook", "install"]) == 0
    with started(OUTLIVE_BLACKBOX_DIR=str(tmp_path / "box"), IPYTHONDIR=str(tmp_path / "ipython")) as kernel:
        assert kernel.run("'outlive' in get_ipython().extension_manager.loaded").plain() == "True"
        kernel.die("import os\nos.abort()")
        kernel.restart(now=True)
        cell = kernel.run("'first'")
        assert "error[D505]" in cell.plain()
        assert "cell [2]:2" in cell.plain()
        assert kernel.run("'second'").plain() == "'second'"
