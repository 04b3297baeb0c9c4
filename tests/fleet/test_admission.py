"""Models run side by side only while their planned memory fits; nobody waits for the dead."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from outlive.fleet.admission import Ledger, admitted, usable_bytes

PROGRAM = """
import sys, time
from pathlib import Path
from outlive.fleet.admission import admitted
folder, log, size = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
for _ in range(4):
    with admitted(size, 100, folder):
        with log.open("a") as file: file.write(f"+{size}\\n")
        time.sleep(0.03)
        with log.open("a") as file: file.write(f"-{size}\\n")
"""


def ledger(folder: Path) -> Ledger:
    return Ledger((folder / "admission.json").open("r+", encoding="ascii"))


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
            end.wait(60)

    def one(name: str, size: int) -> None:
        with admitted(size, 100, tmp_path):
            order.append(name)

    threads = [threading.Thread(target=hold)]
    threads[0].start()
    assert running.wait(60)
    for name, size in (("large", 90), ("small", 10)):
        threads.append(threading.Thread(target=one, args=(name, size)))
        threads[-1].start()
        with ledger(tmp_path) as book:
            while len(book.entries()) < len(threads):
                time.sleep(0.01)
    assert order == []  # the small one would fit, and waits for its turn
    end.set()
    for thread in threads:
        thread.join(60)
    assert order == ["large", "small"]


def test_larger_than_the_budget_runs_alone(tmp_path: Path) -> None:
    with admitted(500, 100, tmp_path):
        pass


def test_the_dead_are_struck_off(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / "admission.json").write_text(
        f"[[{gone.pid}, 1, 100, true], [{gone.pid}, 2, 5, false]]", "ascii"
    )
    with admitted(60, 100, tmp_path), ledger(tmp_path) as book:
        assert [entry.pid for entry in book.entries()] == [os.getpid()]


def test_a_damaged_ledger_is_begun_anew(tmp_path: Path) -> None:
    for text in ("{", "[1]", '[["a","b","c","d"]]', "[" * 5000):
        (tmp_path / "admission.json").write_text(text, "ascii")
        with admitted(60, 100, tmp_path), ledger(tmp_path) as book:
            assert len(book.entries()) == 1


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
        assert not (tmp_path / "admission.json").exists()


def test_this_machine_has_memory() -> None:
    assert (usable_bytes() or 0) > 64_000_000
