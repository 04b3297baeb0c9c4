"""A few of the faults that `make soak` injects into every verb, the same ones each time."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.cli import exits
from outlive.cli.main import main
from outlive.meter import read_machine
from outlive.quant.quantization import needs_conversion
from tests.deaths.restrictions import linux_only
from tests.faults import mutant_scan
from tests.faults.campaign import Campaign, Driver, sample, trials_of
from tests.faults.verbs import VERBS

pytestmark = linux_only
SEED = 20261118
# How many trials of each; other verbs pass the same code, and the soak tries them all.
COUNTS = {
    "interpreter": 8, "interpreter-cold": 3, "run-deadly": 3, "guard": 3, "guard-cold": 2, "check": 3,
    "quantize": 2, "command-cut": 4,
}  # fmt: skip


@pytest.mark.parametrize("verb", COUNTS)
def test_every_fault_ends_in_a_result_or_an_error_and_leaves_nothing(verb: str) -> None:
    with Driver(verb) as driver:
        trials = list(trials_of(verb, driver.sites()))
        assert len(trials) > COUNTS[verb]
        for trial in sample(trials, COUNTS[verb], SEED):
            row = driver.make(trial)
            assert row["problems"] == [], f"{trial}\n" + "\n".join(row["problems"])


# What faults have found outside of the worker: parts of the sites, by verb.
MENDED = {
    "check": ("os.stat arena/devices.py", "os.fstat model/file_bytes.py"),
    "command-cut": ("open atomic_files.py",),
}


@pytest.mark.parametrize("verb", MENDED)
def test_what_was_mended_stays_so(verb: str) -> None:
    with Driver(verb) as driver:
        trials = [one for one in trials_of(verb, driver.sites()) if one.stays]
        for part in MENDED[verb]:
            found = [one for one in trials if f" {part}:" in one.site]
            assert found, part
            for trial in found[:4]:
                assert driver.make(trial)["problems"] == []


def test_a_disk_that_cannot_be_looked_at_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object, **_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        assert read_machine().container == ""
        assert not needs_conversion("model.tflite")


def test_a_scan_leaves_no_folders_in_shared_memory(tmp_path: Path) -> None:
    before = set(os.listdir("/dev/shm"))
    assert len(list(outlive.scan([demo_models.path("healthy")], cache=False, jobs=1))) == 1
    made = {name for name in set(os.listdir("/dev/shm")) - before if f"_{os.getpid()}_" in name}
    assert made == set()


def test_a_scan_of_damaged_models_with_few_descriptors_judges_every_row(tmp_path: Path) -> None:
    """The soak has 2,000 of them. A refused model that kept its descriptors would use up 64 in some files."""
    mutant_scan.make_models(tmp_path / "models", 12)
    assert mutant_scan.scan(tmp_path, descriptors=64, seconds=None)
    seen = mutant_scan.judge(tmp_path, 12)
    assert (seen["rows"], seen["bad"]) == (12, [])


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.ENOSPC])
def test_a_shortage_is_no_bug_of_ours(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: object) -> int:
        raise OSError(number, os.strerror(number), "some/file")

    monkeypatch.setattr("outlive.cli.commands.explain.run", refuse)
    monkeypatch.setattr("outlive.cli.failures._silence_stdout", lambda: None)  # it is pytest's
    assert main(["explain", "F101"]) == exits.USAGE
    said = capsys.readouterr().err
    assert said == f"outlive: the system refused: {os.strerror(number)}: some/file\n"


def test_a_campaign_goes_on_where_it_was(tmp_path: Path) -> None:
    with Driver("read") as driver:
        trials = list(trials_of("read", driver.sites()))[:4]
    state = tmp_path / "state"
    first = Campaign(state)
    assert not first.run(trials, until=0)
    assert first.run(trials[:2])
    again = Campaign(state)
    assert again.known == {str(trial) for trial in trials[:2]}
    assert again.run(trials)
    assert (sum(again.done.values()), again.failures) == (4, [])


PLANT = """
import os, subprocess, tempfile, threading, time
import outlive
real = outlive.read

def read(*arguments):
    try:
        return real(*arguments)
    except Exception:
        os.open(os.devnull, os.O_RDONLY)
        tempfile.mkdtemp()
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        subprocess.Popen(["sleep", "60"])
        raise KeyError("planted") from None

outlive.read = read
"""


def test_planted_faults_are_found(tmp_path: Path) -> None:
    """The verb `read` does all that is wrong when the file cannot be opened."""
    (tmp_path / "plant.py").write_text(PLANT)
    with Driver("read", plants=tmp_path) as driver:
        [trial, *_] = [one for one in trials_of("read", driver.sites()) if " os." in one.site]
        problems = driver.make(trial)["problems"]
    assert "KeyError: 'planted'" in problems[0]
    found = {problem.partition(":")[0] for problem in problems[1:]}
    assert {"descriptors", "processes", "threads", "temporary files"} <= found


def test_every_verb_is_called() -> None:
    """A verb that is new has to be tried too."""
    verbs = {name for name in outlive.__all__ if name.islower() and callable(getattr(outlive, name))}
    quiet = {
        "explain",
        "probe",
        "watch",
        "protect",
        "unprotect",
        "load_delegate",
        "quantize_input",
        "dequantize_output",
    }
    hooks = {"load_ipython_extension", "unload_ipython_extension"}
    assert {name for name in verbs - quiet - hooks if not any(name in one for one in VERBS)} == set()
