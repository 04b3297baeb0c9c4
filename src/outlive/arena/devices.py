"""Boards, phones and microcontrollers: what their documents say they have, and users' own files."""

import difflib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from outlive.kernels.tflm.abi import ABIS, KERNELS

_SHIPPED = Path(__file__).parent.parent / "device_data"
# No description of a device is longer; a larger file is something else.
_MOST_BYTES = 65_536
_MOST_RAM_BYTES = 2**50
_KINDS = ("board", "phone", "microcontroller")
_RUNTIMES = ("litert", "tflm")


class DeviceError(ValueError):
    """A device that is not known, or whose file cannot be used; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A machine a model may have to fit: memory as its `document` says, and the runtime it is used with.

    `largest_block_bytes` is the largest bank where memory is in several: an arena is one block.
    `left_by_os_bytes` is what the system leaves, only where a document says so.
    """

    name: str
    title: str
    kind: str
    runtime: str
    ram_bytes: int
    word: int
    document: str
    flash_bytes: int | None = None
    largest_block_bytes: int | None = None
    left_by_os_bytes: int | None = None
    abi: str = ""
    kernels: str = "reference"
    aliases: tuple[str, ...] = ()
    note: str = ""

    @property
    def is_micro(self) -> bool:
        """True if it runs TensorFlow Lite Micro."""
        return self.runtime == "tflm"


def known_devices() -> tuple[Device, ...]:
    """The devices that ship with outlive and the user's own, by name; a user's file replaces ours."""
    found = {device.name: device for device in _shipped()}
    try:
        own = sorted(user_folder().glob("*.toml"))
    except OSError as error:
        raise DeviceError(f"the folder {user_folder()} cannot be read: {error.strerror}") from error
    for path in own:
        device = read_device(path)
        found[device.name] = device
    return tuple(found[name] for name in sorted(found))


def find_device(word: str) -> Device:
    """The device of that name or alias, or the one a file describes; DeviceError with near names if none."""
    if word.endswith(".toml") or os.sep in word:
        return read_device(Path(word))
    devices = known_devices()
    wanted = "-".join(word.lower().replace("_", " ").split())
    for device in devices:
        if wanted == device.name or wanted in device.aliases:
            return device
    names = sorted({name for device in devices for name in (device.name, *device.aliases)})
    near = difflib.get_close_matches(wanted, names, 3, 0.5) or [name for name in names if wanted in name][:3]
    hint = f"did you mean {', '.join(near)}?" if near and wanted else "`outlive plan --devices` lists them"
    raise DeviceError(f"unknown device {word!r}; {hint}")


def read_device(path: Path) -> Device:
    """The device a TOML file describes."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DeviceError(f"{path} has more than {_MOST_BYTES:,} bytes; it describes no device")
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DeviceError(f"the device file {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DeviceError(f"the device file {path} is not TOML: {error}") from error
    try:
        return _make(table, path.stem)
    except DeviceError as error:
        raise DeviceError(f"the device file {path}: {error}") from None


def user_folder() -> Path:
    """Where a user keeps devices: $XDG_CONFIG_HOME/outlive/devices, or ~/.config/outlive/devices."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return Path(home if home else Path.home() / ".config") / "outlive" / "devices"


@cache
def _shipped() -> tuple[Device, ...]:
    return tuple(read_device(path) for path in sorted(_SHIPPED.glob("*.toml")))


def _make(table: Mapping[str, Any], stem: str) -> Device:
    known = {field.name for field in fields(Device)}
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise DeviceError(f"unknown field {key!r}{hint}")
    runtime = _word(table, "runtime", _RUNTIMES, "litert")
    micro = runtime == "tflm"
    word = table.get("word", 32 if micro else 64)
    if isinstance(word, bool) or word not in (32, 64):
        raise DeviceError(f"word is 32 or 64, not {word!r}")
    return Device(
        name=_text(table, "name", stem),
        title=_text(table, "title", _text(table, "name", stem)),
        kind=_word(table, "kind", _KINDS, "microcontroller" if micro else "board"),
        runtime=runtime,
        ram_bytes=_size(table, "ram_bytes", needed=True) or 0,
        flash_bytes=_size(table, "flash_bytes", needed=micro),
        largest_block_bytes=_size(table, "largest_block_bytes"),
        left_by_os_bytes=_size(table, "left_by_os_bytes"),
        word=word,
        abi=_word(table, "abi", ("", *ABIS), ("cortex-m" if word == 32 else "host64") if micro else ""),
        kernels=_word(table, "kernels", KERNELS, "reference"),
        document=_text(table, "document", ""),
        aliases=tuple(_aliases(table.get("aliases", []))),
        note=_text(table, "note", ""),
    )


def _text(table: Mapping[str, Any], key: str, otherwise: str) -> str:
    value = table.get(key, otherwise)
    if not isinstance(value, str) or len(value) > 500:
        raise DeviceError(f"{key} is a short text, not {str(value)[:40]!r}")
    return value


def _word(table: Mapping[str, Any], key: str, words: tuple[str, ...], otherwise: str) -> str:
    value = table.get(key, otherwise)
    if value not in words:
        raise DeviceError(f"{key} is one of {', '.join(filter(None, words))}, not {str(value)[:40]!r}")
    return str(value)


def _size(table: Mapping[str, Any], key: str, needed: bool = False) -> int | None:
    value = table.get(key)
    if value is None and not needed:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= _MOST_RAM_BYTES:
        said = "is missing" if value is None else f"is a number of bytes, not {str(value)[:40]!r}"
        raise DeviceError(f"{key} {said}")
    return value


def _aliases(value: Any) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise DeviceError("aliases is a list of names")
    yield from value
