"""Inputs in words: the same for the command line and for Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.verbs.read import parse_inputs


def test_arrays_and_nothing_are_taken_as_they_are() -> None:
    value = [np.zeros(3)]
    assert parse_inputs(value) is value
    assert parse_inputs(None) is None
    assert parse_inputs([]) == []  # for a model without inputs; a model with some refuses it


def test_words_name_inputs_and_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    np.savez(tmp_path / "b.npz", b=np.arange(2))
    told = parse_inputs([f"a={tmp_path}/a.npy", f"{tmp_path}/b.npz", "c=zeros"])
    assert list(told) == ["a", "b", "c"]
    assert told["a"].tolist() == [0, 1, 2]
    assert told["c"] == "zeros"
    assert parse_inputs(["zeros"]) == "zeros"
    assert parse_inputs(["zeros", "ones"]) == ["zeros", "ones"]
    (only,) = parse_inputs(f"{tmp_path}/a.npy")
    assert only.shape == (3,)


@pytest.mark.parametrize("name", ["empty.npy", "empty.npz"])
def test_a_file_without_arrays_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match="cannot read arrays"):
        parse_inputs(str(tmp_path / name))


def test_a_file_for_one_of_several_inputs_needs_a_name(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    with pytest.raises(ValueError, match="say which input"):
        parse_inputs([f"{tmp_path}/a.npy", "b=zeros"])


def test_run_takes_the_words_and_options_of_the_command_line(tmp_path: Path) -> None:
    np.save(tmp_path / "image.npy", np.zeros((1, 64, 64, 3), np.float32))
    flight = outlive.run(
        demo_models.path("healthy"),
        f"image={tmp_path}/image.npy",
        memory="300MB",
        seconds=300,
        threads=1,
        save=tmp_path / "out",
    )
    assert flight.limits["memory_bytes"] == 300_000_000
    saved = np.load(tmp_path / "out.npz")["probabilities"]
    assert np.array_equal(saved, flight.values["probabilities"])


def test_a_run_needs_at_least_one_repeat() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        outlive.run(demo_models.path("healthy"), repeat=0)
