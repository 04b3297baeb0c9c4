"""Folders, patterns and lists give the files that are meant, whatever else is in the tree."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.fleet.file_discovery import find_files
from outlive.verbs.scan import examine_task
from tests.fleet.made import models, task


def names(*words: str | Path) -> list[str]:
    return [item.name for item in find_files([str(word) for word in words])]


def test_a_folder_gives_all_models_below_it(tmp_path: Path) -> None:
    models(tmp_path / "b", "healthy")
    models(tmp_path / "a" / "deep", "deadly")
    (tmp_path / "weights.bin").write_bytes((tmp_path / "b" / "healthy_0.tflite").read_bytes())
    (tmp_path / "readme.md").write_text("TFL3", "utf-8")
    assert names(tmp_path) == ["weights.bin", "a/deep/deadly_0.tflite", "b/healthy_0.tflite"]


def test_loops_pipes_and_dead_links_stop_nobody(tmp_path: Path) -> None:
    models(tmp_path / "a", "healthy")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self.tflite").symlink_to(tmp_path / "self.tflite")
    (tmp_path / "gone.tflite").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.tflite")
    os.mkfifo(tmp_path / "pipe")
    found = names(tmp_path)
    assert "a/healthy_0.tflite" in found
    assert "pipe.tflite" not in found
    assert len(found) == len(set(found)) == 3  # the dead links get a row each


def test_what_is_named_itself_is_taken(tmp_path: Path) -> None:
    text = tmp_path / "model.onnx"
    text.write_text("no model", "utf-8")
    os.mkfifo(tmp_path / "pipe")
    assert names(text, tmp_path / "pipe", tmp_path / "nowhere.tflite") == [
        "model.onnx",
        "pipe",
        "nowhere.tflite",
    ]


def test_patterns(tmp_path: Path) -> None:
    models(tmp_path / "a" / "b", "healthy", "deadly")
    assert names(tmp_path / "**" / "*.tflite") == ["a/b/deadly_0.tflite", "a/b/healthy_0.tflite"]
    assert names(tmp_path / "*") == ["b/deadly_0.tflite", "b/healthy_0.tflite"]
    with pytest.raises(ValueError, match="no file matches"):
        find_files([str(tmp_path / "*.onnx")])


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    odd = tmp_path / "a[1].tflite"
    odd.write_bytes(b"x")
    assert names(odd) == ["a[1].tflite"]


def test_lists(tmp_path: Path) -> None:
    models(tmp_path / "m", "healthy", "deadly")
    listed = tmp_path / "list.txt"
    listed.write_text("# these\nm/healthy_0.tflite\r\n\nm\n", "utf-8")
    assert names(listed) == names(f"@{listed}") == ["m/healthy_0.tflite", "deadly_0.tflite"]


def test_names_with_lines_come_from_lists_with_zero_bytes(tmp_path: Path) -> None:
    odd = tmp_path / "a\nb.tflite"
    odd.write_bytes(b"x")
    listed = tmp_path / "list.lst"
    listed.write_bytes(b"a\nb.tflite\0")
    assert [item.path for item in find_files([str(listed)])] == [str(odd)]


def test_patterns_do_not_go_round_in_circles(tmp_path: Path) -> None:
    models(tmp_path / "loop", "healthy")
    for name in "abc":
        (tmp_path / "loop" / name).symlink_to(".")
    models(tmp_path / "elsewhere", "deadly")
    (tmp_path / "loop" / "d").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "loop" / ".hidden").mkdir()
    models(tmp_path / "loop" / ".hidden", "wasteful")
    expected = ["d/deadly_0.tflite", "healthy_0.tflite"]
    assert names(tmp_path / "loop" / "**" / "*.tflite") == expected
    assert names(tmp_path / "loop" / "**" / "**" / "*.tflite") == expected
    assert names(tmp_path / "loop" / "**") == expected
    assert names(tmp_path / "*" / "**" / "deadly_0.tflite") == [
        "elsewhere/deadly_0.tflite",
        "loop/d/deadly_0.tflite",
    ]


def test_patterns_are_seen_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models(tmp_path / "a[1]" / "b", "healthy")
    monkeypatch.chdir(tmp_path)
    for pattern in ("**/*.tflite", "a*/**/*.tflite", "**/b/*.tflite", "**/healthy_0.tflite"):
        assert [item.path for item in find_files([pattern])] == ["a[1]/b/healthy_0.tflite"], pattern


def test_a_list_through_a_pipe_is_seen_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models(tmp_path, "healthy")
    monkeypatch.chdir(tmp_path)
    reading, writing = os.pipe()
    os.write(writing, b"healthy_0.tflite\n")
    os.close(writing)
    assert [item.path for item in find_files([f"@/dev/fd/{reading}"])] == ["healthy_0.tflite"]
    os.close(reading)


def test_a_mark_of_byte_order_is_no_name(tmp_path: Path) -> None:
    models(tmp_path, "healthy")
    (tmp_path / "list.txt").write_bytes(b"\xef\xbb\xbfhealthy_0.tflite\r\n")
    assert names(tmp_path / "list.txt") == ["healthy_0.tflite"]


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder with a model, and one that may not be entered, seen by somebody who is not its owner."""
    folder = Path(tempfile.mkdtemp())
    models(folder, "healthy")
    models(folder / "closed", "deadly")
    examine_task(task(folder / "healthy_0.tflite"))  # all that is needed is loaded
    folder.chmod(0o755)
    (folder / "closed").chmod(0)
    if root := os.geteuid() == 0:
        os.seteuid(65534)
    yield folder
    if root:
        os.seteuid(0)
    (folder / "closed").chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_that_may_not_be_entered_has_a_row(closed: Path) -> None:
    assert names(closed) == ["healthy_0.tflite", "closed"]
    for word in (closed / "closed", closed / "closed" / "**" / "*.tflite"):
        assert [os.path.normpath(item.path) for item in find_files([str(word)])] == [str(closed / "closed")]
    for pattern in ("**/*.tflite", "**", "*"):
        assert {item.path for item in find_files([str(closed / pattern)])} == {
            str(closed / "closed"),
            str(closed / "healthy_0.tflite"),
        }
    seen = examine_task(task(closed / "closed"))
    assert seen.outcome == "unreadable"
    assert "cannot list this folder" in seen.note


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        find_files([f"@{tmp_path / 'no.txt'}"])


def test_nothing_is_taken_twice(tmp_path: Path) -> None:
    folder = models(tmp_path / "m", "healthy")
    assert len(find_files([str(folder), str(folder / "healthy_0.tflite"), f"{folder}/../m"])) == 1


def test_ten_thousand_strangers(tmp_path: Path) -> None:
    for number in range(10_000):
        (tmp_path / f"{number}.txt").touch()
    assert find_files([str(tmp_path)]) == []


def test_names_that_are_no_text(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff\xfe.tflite"
    with open(odd, "wb") as file:
        file.write(b"x")
    assert os.fsencode(find_files([str(tmp_path)])[0].path) == odd
