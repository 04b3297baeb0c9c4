"""What is kept between runs is bounded by size and age, and nothing else is touched."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import outlive
from outlive import cache as caches
from outlive.cli.main import main
from outlive.surgery import write
from tests.rules.small import dense, noise, save

SOURCE = Path(outlive.__file__).parent
DAY_S = 86_400
BLOCK = 4096


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, in a program that has not written to it yet."""
    monkeypatch.setenv("OUTLIVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(caches._written, "size_bytes", None)
    return tmp_path / "cache"


def entry(number: int, room: str = "scan", suffix: str = "json") -> Path:
    """The place of an entry, as the rooms name them."""
    name = f"{number:064x}.{suffix}"
    return caches.cache_folder(room) / (name[-7:-5] if room == "scan" else "") / name


def make(number: int, room: str = "scan", days: float = 0.0, suffix: str = "json") -> Path:
    """An entry of a block, last used some days ago."""
    path = entry(number, room, suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(BLOCK))
    age(path, days)
    return path


def age(path: Path, days: float) -> None:
    then = time.time() - days * DAY_S
    os.utime(path, (then, then), follow_symlinks=False)


def test_the_folder_is_the_users_wish_or_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTLIVE_CACHE", "/wish")
    monkeypatch.setenv("XDG_CACHE_HOME", "/usual")
    assert caches.cache_folder("fit") == Path("/wish/fit")
    monkeypatch.delenv("OUTLIVE_CACHE")
    assert caches.cache_folder("fit") == Path("/usual/outlive/fit")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert caches.cache_folder("fit") == Path.home() / ".cache/outlive/fit"


@pytest.mark.parametrize(
    ("said", "most"), [("1000", 1000), ("2GB", 2 * 10**9), ("0", 0), ("", 512 * 10**6), ("much", 512 * 10**6)]
)
def test_the_size_is_the_users_wish_or_the_usual_one(
    said: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLIVE_CACHE_BYTES", said)
    assert caches.most_bytes() == most


def results(*conditions: object) -> caches.ResultCache:
    return caches.ResultCache(caches.cache_folder("scan"), *conditions)


def test_an_entry_is_kept_whole_and_for_its_user_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = results("version 1")
    cache.keep({"a": 1}, "key", 1)
    cache.keep({"a": 2}, "key", 1)
    assert cache.recall("key", 1) == {"a": 2}
    assert cache.recall("key", 2) == results("version 2").recall("key", 1) == {}
    assert caches.ResultCache(None).recall("key", 1) == {}
    (path,) = (root / "scan").rglob("*.*")
    assert (root / "scan").stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600
    age(path, 9)
    assert cache.recall("key", 1)
    assert time.time() - path.stat().st_mtime < DAY_S, "it counts as used"
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert cache.recall("key", 1) == {}, "what another user keeps is not trusted"
    cache.keep({"a": 3}, "key", 1)
    monkeypatch.undo()
    monkeypatch.setenv("OUTLIVE_CACHE", str(root))
    assert cache.recall("key", 1) == {"a": 2}


def test_an_entry_that_was_changed_or_is_too_large_is_none(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = results()
    cache.keep({"a": 1}, "key")
    cache.keep_model(b"model", "key")
    cache.keep({"not JSON": object()}, "other")
    assert (cache.recall("key"), cache.recall_model("key"), cache.recall("other")) == ({"a": 1}, b"model", {})
    monkeypatch.setattr(caches, "_MOST_MODEL_BYTES", 4)
    assert cache.recall_model("key") == b""
    cache.keep_model(b"larger", "third")
    monkeypatch.undo()
    for path in (root / "scan").rglob("*.tflite"):
        path.write_bytes(b"other")
    assert cache.recall_model("key") == cache.recall_model("third") == b""
    for damage in (b"", b"[]", b"{" * 10_000, b"\xff"):
        for path in (root / "scan").rglob("*.json"):
            path.write_bytes(damage)
        assert cache.recall("key") == {}


def test_what_cannot_be_kept_is_no_error(root: Path) -> None:
    root.write_bytes(b"")
    results().keep({"a": 1}, "key")
    assert results().recall("key") == {}
    caches.tidy()
    assert sum(item.files for item in caches.usage()) == 0


@pytest.mark.usefixtures("root")
def test_what_was_not_used_for_longest_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = caches.ROOMS
    made = [make(number, rooms[number % len(rooms)], days=20 - number) for number in range(20)]
    os.utime(made[0])  # used again: the youngest now
    monkeypatch.setenv("OUTLIVE_CACHE_BYTES", str(5 * BLOCK))
    caches.tidy()
    assert [path for path in made if path.exists()] == [made[0], *made[16:]]


@pytest.mark.usefixtures("root")
def test_what_is_old_goes_however_small_it_is() -> None:
    old, young = make(1, days=91), make(2, days=89)
    caches.tidy()
    assert (old.exists(), young.exists()) == (False, True)


def test_nothing_else_is_touched_and_no_link_followed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    outside = tmp_path / "outside"
    outside.mkdir()
    for number in range(3):
        (outside / f"{number:064x}.json").write_bytes(b"mine")
    (root / "scan").mkdir(parents=True)
    (root / "scan" / "ab").symlink_to(outside)
    (root / "scan" / f"{1:064x}.json").symlink_to(outside / f"{1:064x}.json")
    (root / "fit").symlink_to(outside)
    (root / "delegates" / f"{2:064x}.json").mkdir(parents=True)
    for name in ("notes.txt", f"{3:064x}.txt", f"x{4:064x}.json", ".outlive-0123456789abcdef.part"):
        (root / "delegates" / name).write_bytes(b"mine")
    (root / f"{5:064x}.json").write_bytes(b"mine")
    before = sorted(path for path in tmp_path.rglob("*") if path.name != caches._STAMP)
    for path in before:
        age(path, 100 if path.suffix != ".part" else 0)
    caches.tidy()
    assert sum(item.files for item in caches.clean()) == 0
    assert sorted(path for path in tmp_path.rglob("*") if path.name != caches._STAMP) == before


@pytest.mark.usefixtures("root")
def test_a_draft_of_a_program_that_was_killed_goes(root: Path) -> None:
    draft = root / "fit" / ".outlive-0123456789abcdef.part"
    draft.parent.mkdir(parents=True)
    draft.write_bytes(b"half")
    age(draft, 91)
    caches.tidy()
    assert not draft.exists()


@pytest.mark.usefixtures("root")
def test_a_program_looks_when_nobody_did_for_a_day_and_then_by_what_it_writes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLIVE_CACHE_BYTES", str(2 * BLOCK))
    monkeypatch.setattr(caches, "_EVERY_BYTES", 4 * BLOCK)
    old = make(1, days=91)
    results().keep({}, 2)
    assert not old.exists(), "the first entry of the day"
    counts = []
    for number in range(3, 30):
        results().keep({}, number)
        counts.append(caches.usage()[-1].files)
    assert max(counts) <= 2 + 4 + 1
    assert min(counts[4:]) == 2
    monkeypatch.setattr(caches._written, "size_bytes", None)
    old = make(1, days=91)
    results().keep({}, 99)
    assert old.exists(), "another program has looked today"
    age(root / caches._STAMP, 2)
    monkeypatch.setattr(caches._written, "size_bytes", None)
    results().keep({}, 99)
    assert not old.exists()


CROWD = """
import sys
from outlive import cache as caches
caches._EVERY_BYTES = 0
for number in range(60):
    cache = caches.ResultCache(caches.cache_folder("scan"))
    cache.keep({"a": "b" * 4000}, sys.argv[1], number)
    cache.recall(sys.argv[1], number)
"""


def test_several_programs_tidy_at_once(root: Path) -> None:
    env = {**os.environ, "OUTLIVE_CACHE_BYTES": str(10 * BLOCK)}
    words = [sys.executable, "-c", CROWD]
    crowd = [subprocess.Popen([*words, str(n)], env=env, stderr=subprocess.PIPE) for n in range(4)]
    assert [process.communicate(timeout=300)[1] for process in crowd] == [b""] * 4
    assert [process.returncode for process in crowd] == [0] * 4
    # Who writes last has seen all others; between its look and its end they may have added one each.
    assert 1 <= len(list((root / "scan").rglob("*.json"))) <= 10 + 3


@pytest.mark.usefixtures("root")
def test_the_cache_of_scans_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        save(tmp_path, write(dense(buffers=[noise(2, 4) + number])), f"{number}.tflite")
    monkeypatch.setattr(caches, "_EVERY_BYTES", 0)
    outlive.scan(str(tmp_path), jobs=1)
    assert caches.usage()[-1].files == 6
    assert all(row.from_cache for row in outlive.scan(str(tmp_path), jobs=1))
    monkeypatch.setenv("OUTLIVE_CACHE_BYTES", str(2 * BLOCK))
    save(tmp_path, write(dense(buffers=[noise(2, 4) + 9])), "9.tflite")
    outlive.scan(str(tmp_path), jobs=1)
    assert caches.usage()[-1].files <= 2


@pytest.mark.usefixtures("root")
def test_doctor_shows_what_is_kept_and_empties_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    kept = [make(1), make(2, "fit", suffix="tflite"), make(3, "delegates")]
    names = ("outlive-fit-abcd_123", "outlive-fit-efgh5678", "outlive-fit-", "outlive-abcdefgh")
    left, busy, mine, link = (scratch / name for name in names)
    for folder in (left, busy, mine):
        folder.mkdir()
        (folder / "model.tflite").write_bytes(bytes(BLOCK))
    link.symlink_to(mine)
    for path in (left, mine, link):
        age(path, 2)
    assert main(["doctor", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(item["name"], item["files"]) for item in document["caches"]] == [
        ("delegates", 1), ("fit", 1), ("scan", 1),
    ]  # fmt: skip
    assert (document["most_cache_bytes"], document["most_cache_days"], document["removed"]) == (
        512 * 10**6,
        90,
        [],
    )
    assert all(path.exists() for path in kept)
    assert main(["doctor", "--clean", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(item["name"], item["files"]) for item in document["removed"]] == [
        ("delegates", 1), ("fit", 1), ("scan", 1), ("temporary files", 1),
    ]  # fmt: skip
    assert document["removed"][-1]["bytes"] >= BLOCK
    assert sum(item["files"] for item in document["caches"]) == 0
    assert not any(path.exists() for path in (*kept, left))
    assert all(path.exists() for path in (busy, mine, link))


@pytest.mark.usefixtures("root")
def test_doctor_says_in_words_what_it_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    make(1)
    assert main(["doctor", "--clean"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"Removed\s+1 file, 4\.00 KiB\.\n.*\n +scan +1 +4\.00 KiB +\S+cache/scan", text)
    assert re.search(r"0 files, 0 B, at most 512 MB and 90 days", text)


def test_every_temporary_file_of_ours_is_known_by_its_name() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    found = re.findall(r"(?:mkdtemp|mkstemp|TemporaryDirectory|NamedTemporaryFile)\(([^)]*)\)", text)
    named = [match[1] for call in found if (match := re.search(r'prefix="([^"]+)"', call))]
    assert len(named) > 8
    assert [prefix for prefix in named if not caches._TEMPORARY.fullmatch(f"{prefix}ab_d1234")] == []
    assert [call for call in found if "prefix=" not in call] == []
