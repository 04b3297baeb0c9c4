"""Results that were costly to get are kept, and not kept longer than they are true."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.accelerators.configurations import choose_configurations
from outlive.accelerators.probe import result_cache
from outlive.accelerators.trial import TrialSettings
from outlive.cache import cache_folder
from outlive.verbs.judging import JUDGE
from tests.accelerators.small_library import build, needs_compiler
from tests.accelerators.small_models import line

MODEL = line("ADD", "MUL")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OUTLIVE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def probed(mood: str = "works") -> outlive.Accelerator:
    delegate = outlive.load_delegate(build(), {"mood": mood})
    return outlive.probe(MODEL, only=["library"], delegates=[delegate])["libsmall_delegate.so"]


@needs_compiler
def test_a_second_probe_recalls_the_first() -> None:
    first, second = probed(), probed()
    assert (first.from_cache, second.from_cache) == (False, True)
    assert replace(second, from_cache=False) == first


@needs_compiler
def test_other_options_are_another_matter() -> None:
    assert not probed().from_cache
    assert not probed("wrong").from_cache


@needs_compiler
def test_a_death_is_recalled_too() -> None:
    assert probed("dies").death == probed("dies").death
    assert probed("dies").from_cache


@needs_compiler
def test_a_library_that_was_built_anew_is_tried_anew(tmp_path: Path) -> None:
    copy = tmp_path / "libcopy.so"
    copy.write_bytes(Path(build()).read_bytes())
    order = [outlive.load_delegate(copy)]
    assert not outlive.probe(MODEL, only=["library"], delegates=order)["libcopy.so"].from_cache
    assert outlive.probe(MODEL, only=["library"], delegates=order)["libcopy.so"].from_cache
    copy.write_bytes(Path(build()).read_bytes() + b"\0")
    assert not outlive.probe(MODEL, only=["library"], delegates=order)["libcopy.so"].from_cache


@needs_compiler
@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"name": 3}', b"\xff" * 9])
def test_a_damaged_file_is_as_good_as_none(damage: bytes, own_folder: Path) -> None:
    probed()
    (kept,) = own_folder.rglob("*.json")
    kept.write_bytes(damage)
    assert not probed().from_cache


@needs_compiler
def test_nothing_is_kept_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTLIVE_CACHE", "/dev/null/nowhere")
    assert probed().outcome == "runs"
    assert not probed().from_cache


def test_arrays_of_the_users_are_not_remembered() -> None:
    for inputs, kept in (([np.zeros(3)], {}), ("zeros", {"a": 1})):
        cache = result_cache(TrialSettings(source=MODEL, judge=JUDGE, inputs=inputs))
        cache.keep({"a": 1}, "key")
        assert cache.recall("key") == kept


def test_what_was_not_here_is_not_kept(own_folder: Path) -> None:
    missing = outlive.load_delegate("/nowhere/libnone.so")
    outlive.probe(MODEL, only=["library"], delegates=[missing])
    assert list(own_folder.glob("**/*.json")) == []


def test_kernels_of_the_cpu_are_always_tried(own_folder: Path) -> None:
    outlive.probe(MODEL, only=["xnnpack"])
    assert list(own_folder.glob("**/*.json")) == []


def test_the_folder_follows_the_users_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OUTLIVE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder("delegates") == Path("/somewhere/outlive/delegates")


@needs_compiler
def test_what_is_kept_is_plain_json(own_folder: Path) -> None:
    probed()
    (kept,) = own_folder.rglob("*.json")
    assert json.loads(kept.read_text())["name"] == "libsmall_delegate.so"
    assert choose_configurations(["xnnpack"])[0].name == "reference"
