"""A few of the faults that `make soak` injects into every verb, the same ones each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deaths.restrictions import linux_only
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
    import outlive

    verbs = {name for name in outlive.__all__ if name.islower() and callable(getattr(outlive, name))}
    quiet = {
        "explain",
        "watch",
        "protect",
        "unprotect",
        "load_delegate",
        "quantize_input",
        "dequantize_output",
    }
    hooks = {"load_ipython_extension", "unload_ipython_extension"}
    assert {name for name in verbs - quiet - hooks if not any(name in one for one in VERBS)} == set()
