"""Values of a configuration, each of the kind it has to be; what is wrong is said with its file and key."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Table = Mapping[str, Any]
_TOLERANCES = ("peak", "latency", "outputs")
_EXAMPLES = {"ram": "64MB", "device": "raspberry-pi-pico", "expect": "int8-io", "accelerator": "builtin"}


class ConfigError(ValueError):
    """A configuration that cannot be used; the text says which file, which key, and why."""


class UnreadableConfig(ConfigError):
    """A configuration of which nothing is known: the file cannot be read, or is no TOML."""


def table_of(content: Table, path: Path) -> Table | None:
    """What a pyproject.toml says about us; None if nothing."""
    tools = content.get("tool", {})
    found = tools.get("outlive") if isinstance(tools, dict) else None
    if found is not None and not isinstance(found, dict):
        raise ConfigError(f"{path}: tool.outlive is a table, not {kind_of(found)}")
    return found


def known_keys(table: Table, keys: Sequence[str], path: Path, where: str) -> None:
    """ConfigError for a key that there is not."""
    for key in table:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, 1)
            hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(keys)}"
            raise ConfigError(f"{path}: {where}there is no key {key!r}; {hint}")


def words(table: Table, key: str, path: Path) -> tuple[str, ...]:
    """A list of texts."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(
            f'{path}: {key} is a list of texts such as ["Q1", "zero-scale"], not {kind_of(value)}'
        )
    return tuple(value)


def patterns(table: Table, key: str, path: Path) -> tuple[str, ...]:
    """A pattern of file names, or a list of them."""
    value = table.get(key, [])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(item, str) and item for item in listed):
        raise ConfigError(
            f'{path}: {key} is a pattern such as "pico/*.tflite" or a list of them, not {kind_of(value)}'
        )
    for pattern in listed:
        if pattern.startswith("!"):
            raise ConfigError(
                f"{path}: {key} has {pattern!r}: no pattern takes back another; name what is meant"
            )
    return tuple(listed)


def tables(table: Table, key: str, path: Path) -> tuple[Table, ...]:
    """Tables of one kind, as `[[tool.outlive.overrides]]` makes them."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ConfigError(
            f"{path}: {key} are tables, each headed [[tool.outlive.{key}]], not {kind_of(value)}"
        )
    return tuple(value)


def reasons_of(table: Table, path: Path) -> tuple[tuple[str, str], ...]:
    """Rules to ignore, each with the reason: a list has none, a table says one for each."""
    value = table.get("ignore", [])
    if not isinstance(value, dict):
        return tuple((word, "") for word in words(table, "ignore", path))
    for word, reason in value.items():
        if not isinstance(reason, str) or not reason.strip():
            raise ConfigError(f'{path}: ignore.{word} is the reason as a text, such as "it is streamed"')
    return tuple((word, reason.strip()) for word, reason in value.items())


def device_names(table: Table, path: Path) -> tuple[str, ...]:
    """A device, or several; a device file is named as seen from the configuration, wherever we are run."""
    value = table.get("device", [])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise ConfigError(
            f'{path}: device is a text such as "raspberry-pi-pico" or a list of them, not {kind_of(value)}'
        )
    return tuple(os.path.join(path.parent, name) if name.endswith(".toml") else name for name in listed)


def text(table: Table, key: str, path: Path) -> str | None:
    """A text, or nothing."""
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f'{path}: {key} is a text such as "{_EXAMPLES[key]}", not {kind_of(value)}')
    return value


def flag(table: Table, key: str, path: Path) -> bool:
    """True or false."""
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ConfigError(f"{path}: {key} is true or false, not {kind_of(value)}")
    return value


def tolerances_of(table: Table, path: Path) -> dict[str, float]:
    """How much worse is still the same, as shares: 0.05, or "5%"."""
    found = table.get("tolerances", {})
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: tolerances is a table of {', '.join(_TOLERANCES)}, not {kind_of(found)}")
    known_keys(found, _TOLERANCES, path, "tolerances: ")
    return {key: parse_share(value, f"{path}: tolerances.{key}") for key, value in found.items()}


def parse_share(value: Any, where: str) -> float:
    """A share such as 0.05 or "5%"."""
    written = value.strip() if isinstance(value, str) else value
    try:
        if isinstance(written, str):
            share = float(written.removesuffix("%")) / (100 if written.endswith("%") else 1)
        else:
            share = math.nan if isinstance(written, bool) else float(written)
    except (TypeError, ValueError):
        share = math.nan
    if not (math.isfinite(share) and share >= 0):
        raise ConfigError(f'{where} is a share such as 0.05 or "5%", not {kind_of(value)}')
    return share


def kind_of(value: object) -> str:
    """A value as a user would say it."""
    names = {list: "a list of something else", dict: "a table", str: "a text", bool: "true or false"}
    return names.get(type(value), f"{value!r:.40}")
