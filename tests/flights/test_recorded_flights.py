"""Real ends of real runs, recorded on a real machine: each still gets the verdict it had.

A recording is a JSON file: `verdict`, the code of the finding; `how`, what was done; `flight`, the record,
with paths and process numbers of the machine taken out. A new crash becomes a test by adding its file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from outlive.rules import judge
from outlive.rules.catalogue import load_rules
from outlive.verbs.judging import JUDGE
from tests.flights.replay import load, rebuild, recordings

on_each = pytest.mark.parametrize("path", recordings(), ids=lambda path: path.stem)


@on_each
def test_a_recorded_flight_gets_its_verdict_and_no_other(path: Path) -> None:
    verdict, row = load(path)
    judgement = judge({"flight": rebuild(row)}, [rule for rule in load_rules() if rule.facts == ("flight",)])
    assert [finding.code for finding in judgement] == [verdict]


@on_each
def test_a_flight_is_written_and_read_without_loss(path: Path) -> None:
    _, row = load(path)
    assert rebuild(row).to_json() == row


@on_each
def test_the_drawn_verdict_is_one_finding_without_strange_characters(path: Path) -> None:
    verdict, row = load(path)
    finding, text, _ = JUDGE.find("flight", rebuild(row), None)
    assert text.startswith(f"error[{verdict}]: {finding.headline}\n  {finding.where}\n")
    assert all(line.isprintable() for line in text.splitlines())


def test_every_verdict_on_deaths_is_recorded() -> None:
    codes = {rule.code for rule in load_rules() if rule.facts == ("flight",) and rule.code[0] == "D"}
    assert codes - {load(path)[0] for path in recordings()} == set()


def test_without_its_evidence_a_flight_gets_a_humbler_verdict() -> None:
    """The verdict hangs on what was seen: a SIGKILL is only a kill for memory if kills were counted."""
    path = next(path for path in recordings() if load(path)[0] == "D508")
    flight = rebuild(load(path)[1])
    told = {
        kills: JUDGE.find("flight", replace(flight, oom_kills=kills), None)[0] for kills in (None, (3, 4))
    }
    assert (told[None].code, told[(3, 4)].code) == ("D508", "D501")
    assert told[None].confidence.startswith("likely")
