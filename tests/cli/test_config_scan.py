"""Tolerances of `outlive scan --against`: the command line's, else the project's, else the usual ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlive.cli.main import build_parser, main
from outlive.cli.scan import _tolerances
from outlive.fleet.comparing import Tolerances


def asked(*words: str) -> Tolerances:
    return _tolerances(build_parser().parse_args(["scan", "models", *words]))


def test_whose_word_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "outlive.toml"
    config.write_text("")
    assert asked() == Tolerances()
    config.write_text('[tolerances]\npeak = "10%"\nlatency = 0.5\n')
    assert asked() == Tolerances(peak=0.1, latency=0.5)
    assert asked("--tolerance-peak", "2%") == Tolerances(peak=0.02, latency=0.5)


def test_a_wrong_tolerance_is_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outlive.toml").write_text("tolerances = {peak = 'much'}\n")
    assert main(["scan", str(tmp_path)]) == 2
    assert "tolerances.peak is a share" in capsys.readouterr().err
