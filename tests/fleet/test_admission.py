"""Models run side by side only while their planned memory fits; nobody waits for the dead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from outlive.fleet.file_scan import AdmissionQueue, admitted, usable_bytes

PROGRAM = """
import sys, time
from pathlib import Path
from outlive.fleet.file_scan import admitted
folder, log, size = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
for _ in range(4):
    with admitted(size, 100, folder):
        with log.open("a") as file: file.write(f"+{size}\\n")
        time.sleep(0.03)
        with log.open("a") as file: file.write(f"-{size}\\n")
"""


BOOK = "tickets.json"
TOKEN = "ab" * 16


def ledger(folder: Path) -> AdmissionQueue:
    return AdmissionQueue((folder / BOOK).open("r+", encoding="ascii", errors="replace"), folder)


def test_the_sum_of_all_processes_stays_within_the_budget(tmp_path: Path) -> None:
    log = tmp_path / "log"
    sizes = (60, 50, 30)
    children = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path), str(log), str(size)])
        for size in sizes
    ]
    assert [child.wait(timeout=120) for child in children] == [0, 0, 0]
    taken = most = 0
    for line in log.read_text("utf-8").splitlines():
        taken += int(line)
        most = max(most, taken)
    assert taken == 0
    assert max(sizes) <= most <= 100


def test_a_large_one_is_not_overtaken(tmp_path: Path) -> None:
    order: list[str] = []
    running = threading.Event()
    end = threading.Event()

    def hold() -> None:
        with admitted(60, 100, tmp_path):
            running.set()
            end.wait(300)

    def one(name: str, size: int) -> None:
        with admitted(size, 100, tmp_path):
            order.append(name)

    threads = [threading.Thread(target=hold)]
    threads[0].start()
    assert running.wait(300)
    for name, size in (("large", 90), ("small", 10)):
        threads.append(threading.Thread(target=one, args=(name, size)))
        threads[-1].start()
        with ledger(tmp_path) as book:
            while len(book.entries()) < len(threads):
                time.sleep(0.01)
    assert order == []  # the small one would fit, and waits for its turn
    end.set()
    for thread in threads:
        thread.join(300)
    assert order == ["large", "small"]


def test_larger_than_the_budget_runs_alone(tmp_path: Path) -> None:
    with admitted(500, 100, tmp_path):
        pass


def test_the_dead_are_struck_off(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from outlive.fleet.file_scan import admitted\n"
        "with admitted(100, 100, Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    assert len(list(tmp_path.iterdir())) == 2  # the book, and the lock that nobody holds
    with admitted(60, 100, tmp_path), ledger(tmp_path) as book:
        assert [entry.bytes for entry in book.entries()] == [60]
    assert [path.name for path in tmp_path.iterdir()] == [BOOK]


@pytest.mark.parametrize("running", ["true", "false"])
def test_nobody_waits_for_an_entry_that_no_process_holds(tmp_path: Path, running: str) -> None:
    (tmp_path / TOKEN).touch()
    (tmp_path / BOOK).write_text(f'[["{TOKEN}",7,1000,{running}],["{"cd" * 16}",8,1000,{running}]]', "ascii")
    with admitted(60, 100, tmp_path), ledger(tmp_path) as book:
        assert [entry.bytes for entry in book.entries()] == [60]


def test_a_damaged_ledger_is_begun_anew(tmp_path: Path) -> None:
    odd = [b"{", b"[1]", b'[["a","b","c","d"]]', b"[" * 5000, b"\xff\xfe\x00", b'[["../x",1,1,true]]']
    odd += [b"[[1,7,1000,false]]", b'[["%s",Infinity,1,true]]' % TOKEN.encode()]
    for text in odd:
        (tmp_path / BOOK).write_bytes(text)
        with admitted(60, 100, tmp_path), ledger(tmp_path) as book:
            assert len(book.entries()) == 1


def test_who_is_no_longer_in_the_ledger_goes_behind_all_others(tmp_path: Path) -> None:
    with admitted(90, 100, tmp_path), ledger(tmp_path) as book, book.ticket() as token:
        assert not book.may_run(token, 50, 100)
        with book.ticket() as other:
            assert not book.may_run(other, 60, 100)
            first = [entry for entry in book.entries() if entry.token != token]
            rows = [[entry.token, entry.ticket, entry.bytes, entry.running] for entry in first]
            (tmp_path / BOOK).write_text(json.dumps(rows), "ascii")
            assert not book.may_run(token, 50, 100)
            tickets = {entry.token: entry.ticket for entry in book.entries()}
            assert tickets[token] > tickets[other]


def test_where_nothing_can_be_written_nobody_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = os.open

    def full(path: Any, *words: Any) -> int:
        return usual("/dev/full" if Path(path).name == BOOK else path, *words)

    monkeypatch.setattr(os, "open", full)
    with admitted(60, 100, tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_room_is_given_back_after_an_error(tmp_path: Path) -> None:
    try:
        with admitted(60, 100, tmp_path):
            raise RuntimeError("a model of ours fell over")
    except RuntimeError:
        pass
    with ledger(tmp_path) as book:
        assert book.entries() == ()


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with admitted(60, 100, tmp_path / "link"):
        assert not (tmp_path / BOOK).exists()


def test_this_machine_has_memory() -> None:
    assert (usable_bytes() or 0) > 64_000_000
