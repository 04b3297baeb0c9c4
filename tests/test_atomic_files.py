"""A file is written whole, or what was there before stays as it was."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.atomic_files import whole_file, whole_text, write_whole
from outlive.cli.main import main
from outlive.exporting.micro import FILES

MODEL = str(demo_models.path("healthy"))
OLD = b"what was there before"
# No file may grow past this: a write past it fails as on a full disk, in the middle.
LIMITED = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}));"
    "from outlive.cli.main import main; sys.exit(main(sys.argv[1:]))"
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old"
    path.write_bytes(OLD)
    return path


def alone(path: Path) -> bool:
    """True if there is nothing beside the file."""
    return os.listdir(path.parent) == [path.name]


def test_the_new_takes_the_place_of_the_old(old: Path) -> None:
    write_whole(old, "neu ✓")
    assert old.read_text(encoding="utf-8") == "neu ✓"
    write_whole(str(old), b"new")
    assert old.read_bytes() == b"new"
    with whole_text(old) as file:
        file.write("line\n")
    assert old.read_bytes() == b"line\n"
    assert alone(old)


@pytest.mark.parametrize("error", [ValueError(), KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
def test_an_error_in_the_middle_leaves_the_old(old: Path, error: BaseException) -> None:
    def write_half() -> None:
        with whole_file(old) as file:
            file.write(b"half")
            file.flush()
            assert old.read_bytes() == OLD
            raise error

    with pytest.raises(type(error)):
        write_half()
    assert old.read_bytes() == OLD
    assert alone(old)


def test_what_there_is_no_folder_for_is_told_by_its_own_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(tmp_path / "none" / "file", b"")
    assert caught.value.filename == str(tmp_path / "none" / "file")
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, b"")


def test_an_error_of_the_block_that_is_about_another_file_stays(old: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="other"), whole_file(old):
        (tmp_path / "other").read_bytes()
    assert old.read_bytes() == OLD


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_the_mode_of_an_old_file_stays(old: Path, mode: int) -> None:
    old.chmod(mode)
    write_whole(old, b"new")
    assert stat.S_IMODE(old.stat().st_mode) == mode


def test_a_new_file_has_the_mode_that_the_user_wants(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_link_stays_and_what_it_points_to_is_replaced(old: Path, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    for name, target in (("link", old), ("dangling", tmp_path / "far" / "new")):
        link = tmp_path / name
        link.symlink_to(target)
        write_whole(link, b"new")
        assert link.is_symlink()
        assert target.read_bytes() == b"new"


def test_a_fifo_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.append((tmp_path / "fifo").read_bytes()))
    reader.start()
    write_whole(tmp_path / "fifo", b"new")
    reader.join()
    assert seen == [b"new"]
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)


def test_the_file_behind_standard_output_stays_that_file(tmp_path: Path) -> None:
    script = "from outlive.atomic_files import write_whole; write_whole('/dev/stdout', b'new')"
    with (tmp_path / "out").open("wb") as stream:
        subprocess.run([sys.executable, "-c", script], stdout=stream, check=True, timeout=300)
        assert os.fstat(stream.fileno()).st_ino == (tmp_path / "out").stat().st_ino
    assert (tmp_path / "out").read_bytes() == b"new"
    assert alone(tmp_path / "out")


@contextmanager
def unprivileged() -> Iterator[None]:
    """As somebody whom the modes of files bind; a test's user may be root."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)


def test_a_file_that_may_not_be_written_is_not_replaced(open_folder: Path) -> None:
    old = open_folder / "old"
    old.write_bytes(OLD)
    old.chmod(0o444)
    with unprivileged(), pytest.raises(PermissionError) as caught:
        write_whole(old, b"new")
    assert caught.value.filename == str(old)
    assert old.read_bytes() == OLD


def test_where_the_folder_takes_no_file_the_old_one_is_written_over(open_folder: Path) -> None:
    old = open_folder / "old"
    old.write_bytes(OLD)
    old.chmod(0o666)
    open_folder.chmod(0o555)
    with unprivileged():
        for data in (b"new", OLD * 1000, b""):
            write_whole(old, data)
            assert old.read_bytes() == data
        with pytest.raises(PermissionError):
            write_whole(open_folder / "new", b"new")
    open_folder.chmod(0o777)


def test_an_old_file_is_written_over_only_if_there_is_room(open_folder: Path) -> None:
    old = open_folder / "old"
    old.write_bytes(OLD)
    old.chmod(0o666)
    open_folder.chmod(0o555)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        with unprivileged(), pytest.raises(OSError, match="old") as caught:
            write_whole(old, b"n" * (1 << 21))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        open_folder.chmod(0o777)
    assert caught.value.errno == errno.EFBIG
    assert old.read_bytes() == OLD


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A disk with a quarter of a megabyte left."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(place)]
    if shutil.which("mount") is None or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk: run the tests as root")
    (place / "ballast").write_bytes(bytes(256 << 10))
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_leaves_the_old_file(full: Path) -> None:
    old = full / "old"
    old.write_bytes(OLD)
    with pytest.raises(OSError, match="old") as caught:
        write_whole(old, bytes(1 << 20))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(old))
    assert sorted(os.listdir(full)) == ["ballast", "old"]
    assert old.read_bytes() == OLD


def test_a_file_that_is_mounted_is_written_over(full: Path, tmp_path: Path) -> None:
    """As a container has it whose user lends it a single file."""
    old, lent = tmp_path / "old", full / "lent"
    old.touch()
    lent.write_bytes(OLD)
    subprocess.run(["mount", "--bind", str(lent), str(old)], check=True)
    try:
        write_whole(old, b"new")
        with pytest.raises(OSError, match="No space left"):
            write_whole(old, bytes(1 << 20))
    finally:
        subprocess.run(["umount", str(old)], check=True)
    assert lent.read_bytes() == b"new"
    assert not list(tmp_path.glob(".outlive-*"))


def test_save_on_a_full_disk_leaves_the_old_model(full: Path) -> None:
    part = outlive.cut(demo_models.path("too_big"), ops="0:1")
    old = full / "old"
    old.write_bytes(OLD)
    (full / "more").write_bytes(bytes((256 << 10) - 8192))
    with pytest.raises(OSError, match="No space left"):
        part.save(old)
    assert old.read_bytes() == OLD


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        (("report", MODEL, "--no-run", "-o", "old"), 4096),
        (("read", MODEL, "--output", "old"), 100),
        (("check", MODEL, "--also", "junit=old"), 30),
        (("plan", MODEL, "--plot", "old.svg"), 100),
        (("cut", MODEL, "--ops", "0", "-o", "old"), 100),
        (("scan", MODEL, "-o", "rows.jsonl", "-o", "old.html", "--no-cache"), 4096),
        (("export", MODEL, "--tflm", "--force", "-o", "."), 100),
        (("notebook", "install"), 10),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_command_that_runs_out_of_room_leaves_the_old_file(
    words: tuple[str, ...], limit: int, tmp_path: Path
) -> None:
    startup = tmp_path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    olds = [tmp_path / name for name in ("old", "old.svg", "old.html", *FILES)]
    olds.append(startup / "50-outlive.py")
    for path in olds:
        path.write_bytes(OLD)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(limit=limit), *words],
        cwd=tmp_path, env={**os.environ, "IPYTHONDIR": str(tmp_path)}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert all(path.read_bytes() == OLD for path in olds), done.stderr
    assert not list(tmp_path.rglob(".outlive-*"))


@pytest.mark.parametrize(
    "words",
    [
        ("run", MODEL, "--save", "{}.npz"),
        ("compare", MODEL, MODEL, "--plot", "{}.svg"),
        ("compare", MODEL, MODEL, "--csv", "{}.csv"),
        ("plan", MODEL, "--plot", "{}.svg"),
        ("leak", MODEL, "--repeat", "6", "--cycle", "invoke", "--plot", "{}.svg"),
        ("diagnose", MODEL, "--bundle", "{}.zip"),
        ("export", MODEL, "--tflm", "-o", "{}"),
        ("quantize", MODEL, "--recipe", "dynamic-int8", "-o", "{}.tflite"),
    ],
    ids=lambda words: f"{words[0]} {words[-2]}",
)
def test_a_file_that_cannot_be_written_is_named_with_the_reason(
    words: tuple[str, ...], old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = words[-1].format(old / "new")
    assert main([*words[:-1], target]) == 2
    assert capsys.readouterr().err.endswith(f"cannot write {target}: Not a directory\n")


def test_a_picture_of_another_kind_is_refused_before_anything_is_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["compare", MODEL, "/nowhere.tflite", "--plot", "x.gif"]) == 2
    assert "writes .svg or .png files" in capsys.readouterr().err
