"""What a project says once for all: `[tool.outlive]` in pyproject.toml, or the same keys in outlive.toml."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Nobody writes more by hand; a larger file is another one.
_MOST_BYTES = 4 * 2**20
_KEYS = ("select", "ignore", "device", "ram", "strict")


class ConfigError(ValueError):
    """A configuration that cannot be used; the text says which file, which key, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of a project, and the file they stand in."""

    path: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    device: str | None = None
    ram: str | None = None
    strict: bool = False


NOTHING = Config()


def find_config(start: Path) -> Config:
    """The settings nearest to a folder: its own, or those of the first folder above that has some.

    In one folder outlive.toml goes before pyproject.toml. A pyproject.toml without `[tool.outlive]` says
    nothing about us, and the search goes on.
    """
    for folder in (start, *start.parents):
        own, shared = folder / "outlive.toml", folder / "pyproject.toml"
        if own.is_file():
            return _make(_read(own), own, "")
        table = _table(_read(shared), shared) if shared.is_file() else None
        if table is not None:
            return _make(table, shared, "[tool.outlive] ")
    return NOTHING


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"{path} has more than {_MOST_BYTES:,} bytes")
        content: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror} (--no-config leaves it out)") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {error} (--no-config leaves it out)") from error
    return content


def _table(content: Mapping[str, Any], path: Path) -> Mapping[str, Any] | None:
    tools = content.get("tool", {})
    found = tools.get("outlive") if isinstance(tools, dict) else None
    if found is not None and not isinstance(found, dict):
        raise ConfigError(f"{path}: tool.outlive is a table, not {_kind(found)}")
    return found


def _make(table: Mapping[str, Any], path: Path, where: str) -> Config:
    for key in table:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, 1)
            hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(_KEYS)}"
            raise ConfigError(f"{path}: {where}there is no key {key!r}; {hint}")
    if "device" in table and "ram" in table:
        raise ConfigError(f"{path}: {where}has both device and ram; say one of them")
    device = _text(table, "device", path)
    return Config(
        path=path,
        select=_words(table, "select", path),
        ignore=_words(table, "ignore", path),
        # A device file is named as seen from the configuration, wherever the command is run.
        device=os.path.join(path.parent, device) if device and device.endswith(".toml") else device,
        ram=_text(table, "ram", path),
        strict=_flag(table, "strict", path),
    )


def _words(table: Mapping[str, Any], key: str, path: Path) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(
            f'{path}: {key} is a list of texts such as ["Q1", "zero-scale"], not {_kind(value)}'
        )
    return tuple(value)


def _text(table: Mapping[str, Any], key: str, path: Path) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        example = "64MB" if key == "ram" else "raspberry-pi-pico"
        raise ConfigError(f'{path}: {key} is a text such as "{example}", not {_kind(value)}')
    return value


def _flag(table: Mapping[str, Any], key: str, path: Path) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ConfigError(f"{path}: {key} is true or false, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    """A value as a user would say it."""
    words = {list: "a list of something else", dict: "a table", str: "a text", bool: "true or false"}
    return words.get(type(value), f"{value!r:.40}")
