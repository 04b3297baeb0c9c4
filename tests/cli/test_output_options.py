"""Options that every command has: -q, --open; and what Ctrl-C leaves behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from outlive import demo_models
from outlive.cli.main import main
from tests.cli.processes import COMMAND, environment

HEALTHY, DEADLY, INT8 = (str(demo_models.path(name)) for name in ("healthy", "deadly", "healthy_int8"))
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["read", HEALTHY], 0),
        (["plan", HEALTHY, "--ram", "64MB"], 0),
        (["check", DEADLY], 1),
        (["run", HEALTHY], 0),
        (["run", DEADLY], 3),
        (["diagnose", DEADLY], 3),
        (["compare", HEALTHY, INT8], 0),
        ([HEALTHY], 0),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else str(words),
)
def test_quiet_is_one_line_with_the_same_exit_code(words: list[str], code: int, capsys: Capture) -> None:
    assert main([*words, "-q"]) == code
    (line,) = capsys.readouterr().out.splitlines()
    assert ".tflite: " in line


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A browser that writes down what it was asked to open."""
    asked = tmp_path / "asked"
    script = tmp_path / "browser.sh"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {asked}\n', encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    monkeypatch.chdir(tmp_path)
    return asked


def opened(asked: Path) -> Path:
    address = asked.read_text(encoding="utf-8")
    assert address.startswith("file://")
    return Path(address.removeprefix("file://"))


def run_in_process(*words: str) -> subprocess.CompletedProcess[str]:
    # A process of its own: Python asks for the browser once.
    return subprocess.run([*COMMAND, *words], env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [("plan", HEALTHY), ("check", HEALTHY), ("explain", "F104"), (HEALTHY,)])
def test_open_writes_a_page_and_shows_it(words: tuple[str, ...], browser: Path) -> None:
    done = run_in_process(*words, "--open")
    assert (done.returncode, done.stdout) == (0, "")
    page = opened(browser)
    assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    assert done.stderr == f"opened {page}\n"


def test_open_shows_the_page_that_output_names(browser: Path) -> None:
    done = run_in_process("report", HEALTHY, "--no-run", "--open", "-o", "mine.html")
    assert done.returncode == 0
    assert opened(browser) == browser.parent / "mine.html"


def test_open_of_a_command_whose_output_is_a_model(browser: Path) -> None:
    done = run_in_process("cut", HEALTHY, "--ops", "2", "-o", "part.tflite", "--open")
    assert done.returncode == 0
    assert opened(browser).suffix == ".html"
    assert (browser.parent / "part.tflite").read_bytes()[4:8] == b"TFL3"


def test_open_is_for_pages(capsys: Capture) -> None:
    assert main(["plan", HEALTHY, "--open", "--format", "csv"]) == 2
    assert capsys.readouterr().err == "outlive: --open shows an HTML page; leave out --format csv\n"


def test_where_no_browser_starts_the_page_is_named(browser: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", "false")
    done = run_in_process("plan", HEALTHY, "--open", "-o", "page.html")
    assert (done.returncode, done.stderr) == (
        0, "outlive: no browser could be started here; the page is page.html\n"
    )  # fmt: skip
    assert os.path.exists("page.html")


@pytest.mark.parametrize("command", ["run", "leak", "compare", "quantize"])
def test_an_interrupt_ends_the_command_and_its_workers(command: str, tmp_path: Path) -> None:
    samples = str(tmp_path / "samples.npy")
    np.save(samples, np.zeros((4000, 64, 64, 3), np.float32))
    words = {
        "run": [HEALTHY, "--repeat", "1000000000"],
        "leak": [HEALTHY, "--repeat", "100000000", "--seconds", "500"],
        "compare": [HEALTHY, INT8, "--samples", samples],
        "quantize": [HEALTHY, "-o", "x.tflite", "--recipe", "static-int8", "--samples", samples],
    }[command]
    process = subprocess.Popen(
        [*COMMAND, command, *words], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    workers = _workers_of(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "")
    _, alive = psutil.wait_procs(workers, timeout=300)
    assert alive == []
    assert [path.name for path in tmp_path.iterdir()] == ["samples.npy"]


def _workers_of(pid: int) -> list[psutil.Process]:
    """The processes that a command has started, as soon as there are some."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = psutil.Process(pid).children(recursive=True)
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("no worker was started")


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "outlive", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("outlive ")
