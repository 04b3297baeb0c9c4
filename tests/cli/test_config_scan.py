"""Tolerances of `outlive scan --against`: the command line's, else the project's, else the usual ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlive.cli.main import build_parser, main
from outlive.fleet.regressions import Tolerances
from outlive.verbs.scan import find_tolerances
from tests.fleet.made import models, row


def asked(*words: str) -> Tolerances:
    args = build_parser().parse_args(["scan", "models", *words])
    names = ("peak", "latency", "outputs")
    return find_tolerances({name: getattr(args, f"tolerance_{name}") for name in names})


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
    old = tmp_path / "old.jsonl"
    old.write_bytes(row().line())
    assert main(["scan", str(tmp_path), "--against", str(old)]) == 2
    assert "tolerances.peak is a share" in capsys.readouterr().err


def test_a_broken_configuration_matters_only_where_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUTLIVE_CACHE", str(tmp_path / "cache"))
    folder = models(tmp_path / "models", "healthy")
    (tmp_path / "pyproject.toml").write_text("[tool.outlive\n")
    assert main(["scan", str(folder), "-o", "old.jsonl"]) == 0
    capsys.readouterr()
    words = ["scan", str(folder), "--against", "old.jsonl"]
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "pyproject.toml is not TOML" in told
    assert "--tolerance-peak and --tolerance-latency and --tolerance-outputs" in told
    assert "--no-config" not in told  # a scan has no such option
    given = [f"--tolerance-{name}=5%" for name in ("peak", "latency", "outputs")]
    assert main([*words, *given]) == 0
    assert main(["check", str(folder / "healthy_0.tflite")]) == 2
    assert "(--no-config leaves it out)" in capsys.readouterr().err
