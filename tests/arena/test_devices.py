"""Devices: every file that ships is sound, names are found or near ones told, a user's own files count."""

from __future__ import annotations

from pathlib import Path

import pytest

import outlive
from outlive.arena.devices import Device, DeviceError, find_device, known_devices, read_device
from outlive.arena.questions import ABIS

FILES = sorted((Path(outlive.__file__).parent / "device_data").glob("*.toml"))
MICRO = """
title = "Mine"
runtime = "tflm"
ram_bytes = 65_536
flash_bytes = 262_144
document = "my notes"
"""


def test_there_are_about_forty_and_more() -> None:
    assert len(FILES) >= 40


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_sound(path: Path) -> None:
    device = read_device(path)
    assert device.name == path.stem
    assert len(device.title) > 3
    assert len(device.document) > 10, "where the figures come from"
    assert device.left_by_os_bytes is None or device.left_by_os_bytes < device.ram_bytes
    if device.is_micro:
        hold_micro(device)
    else:
        assert 256 * 2**20 <= device.ram_bytes <= 64 * 2**30
        assert device.flash_bytes is None


def hold_micro(device: Device) -> None:
    assert device.kind == "microcontroller"
    assert device.word == 32
    assert device.abi in ABIS
    assert 16 * 2**10 <= device.ram_bytes <= 64 * 2**20
    assert device.flash_bytes is not None
    assert 128 * 2**10 <= device.flash_bytes <= 128 * 2**20
    if device.largest_block_bytes is not None:
        assert device.largest_block_bytes < device.ram_bytes
        assert device.note, "why there are several banks"


def test_names_and_aliases_are_unique() -> None:
    names = [name for device in known_devices() for name in (device.name, *device.aliases)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() and " " not in name for name in names)


def test_a_device_is_found_by_name_alias_and_whatever_the_case() -> None:
    assert find_device("rp2040") == find_device("Raspberry_Pi_Pico") == find_device("raspberry-pi-pico")


def test_a_mistyped_name_brings_near_ones() -> None:
    with pytest.raises(DeviceError, match="did you mean raspberry-pi-zero-2-w"):
        find_device("raspbery-pi-zero-2w")
    with pytest.raises(DeviceError, match="--devices"):
        find_device("zzzzzzzz")


def test_a_users_file_counts_by_path_and_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "outlive" / "devices" / "mine.toml"
    path.parent.mkdir(parents=True)
    path.write_text(MICRO)
    assert find_device(str(path)).ram_bytes == 65_536
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    mine = find_device("mine")
    assert (mine.title, mine.abi, mine.kernels, mine.word) == ("Mine", "cortex-m", "reference", 32)
    assert mine in known_devices()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "ram_bytes is missing"),
        ("ram_bytes = 'much'", "ram_bytes is a number of bytes"),
        ("ram_bytes = true", "ram_bytes is a number of bytes"),
        ("ram_bytes = -1", "ram_bytes is a number of bytes"),
        ("ram_bytes = 1\nruntime = 'tflm'", "flash_bytes is missing"),
        ("ram_bytes = 1\nruntime = 'onnx'", "runtime is one of litert, tflm"),
        ("ram_bytes = 1\nword = 16", "word is 32 or 64"),
        ("ram_bytes = 1\nrambytes = 2", "unknown field 'rambytes'; did you mean ram_bytes"),
        ("ram_bytes = 1\naliases = 'a'", "aliases is a list"),
        ("ram_bytes = 1\ntitle = 3", "title is a short text"),
        ("ram_bytes = = 1", "is not TOML"),
        ("[" * 5000, "is not TOML"),
        ("x" * 100_000, "more than 65,536 bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(DeviceError, match="bad") as caught:
        find_device(str(path))
    assert said in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="cannot be read"):
        find_device(str(tmp_path / "gone.toml"))
