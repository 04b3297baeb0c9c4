"""What is kept between runs is whole or not there, and lies where the user wants it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from outlive.keeping import cache_folder, keep_file


def test_the_folder_is_the_users_wish_or_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTLIVE_CACHE", "/wish")
    monkeypatch.setenv("XDG_CACHE_HOME", "/usual")
    assert cache_folder("fit") == Path("/wish/fit")
    monkeypatch.delenv("OUTLIVE_CACHE")
    assert cache_folder("fit") == Path("/usual/outlive/fit")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder("fit") == Path.home() / ".cache/outlive/fit"


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "note.json"
    assert keep_file(path, b"first")
    assert keep_file(path, b"second")
    assert path.read_bytes() == b"second"
    assert os.listdir(path.parent) == ["note.json"]


def test_a_full_disk_leaves_the_old_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "note.json"
    assert keep_file(path, b"old")

    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not keep_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["note.json"]


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert not keep_file(tmp_path / "file" / "note.json", b"new")
