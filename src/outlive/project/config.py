"""What a project says once for all: `[tool.outlive]` in pyproject.toml, or the same keys in outlive.toml."""

from __future__ import annotations

import difflib
import functools
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# No configuration that was written by hand is larger.
_MOST_BYTES = 4 * 2**20
_TOLERANCES = ("peak", "latency", "outputs")
_EXAMPLES = {"ram": "64MB", "device": "raspberry-pi-pico", "expect": "int8-io", "accelerator": "builtin"}
Table = Mapping[str, Any]
_CHECKED = ("select", "ignore", "device", "ram", "accelerator", "expect")
_KEYS = (*_CHECKED, "strict", "exclude", "tolerances", "overrides")


class ConfigError(ValueError):
    """A configuration that cannot be used; the text says which file, which key, and why."""


class UnreadableConfig(ConfigError):
    """A configuration of which nothing is known: the file cannot be read, or is no TOML."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """What is asked of a file. `reasons` are those given for rules that are ignored, by the word ignored."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    ram: str | None = None
    accelerator: str | None = None
    expect: str | None = None
    reasons: tuple[tuple[str, str], ...] = ()

    def with_more(self, more: CheckSettings) -> CheckSettings:
        """What is said for some files on top of what is said for all; what is ignored adds up."""
        says_where = bool(more.devices or more.ram)
        return CheckSettings(
            select=more.select or self.select,
            ignore=(*self.ignore, *more.ignore),
            devices=more.devices if says_where else self.devices,
            ram=more.ram if says_where else self.ram,
            accelerator=more.accelerator or self.accelerator,
            expect=more.expect or self.expect,
            reasons=(*self.reasons, *more.reasons),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """What is asked of files whose names match."""

    files: tuple[str, ...]
    settings: CheckSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of a project, and the file they stand in."""

    path: Path | None = None
    settings: CheckSettings = CheckSettings()
    strict: bool = False
    exclude: tuple[str, ...] = ()
    tolerances: Mapping[str, float] = field(default_factory=dict)
    overrides: tuple[Override, ...] = ()

    def settings_of(self, file: str) -> CheckSettings:
        """What is asked of a file: of all, then what each override that matches it says, in their order."""
        settings = self.settings
        for override in self.overrides:
            if self.path is not None and is_match(file, override.files, self.path.parent):
                settings = settings.with_more(override.settings)
        return settings

    def is_excluded(self, file: str) -> bool:
        """True for a file that is not looked for."""
        return self.path is not None and is_match(file, self.exclude, self.path.parent)


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
        table = table_of(_read(shared), shared) if shared.is_file() else None
        if table is not None:
            return _make(table, shared, "[tool.outlive] ")
    return NOTHING


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnreadableConfig(f"{path} has more than {_MOST_BYTES:,} bytes")
        content: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UnreadableConfig(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableConfig(f"{path} is not TOML: {error}") from error
    return content


def _make(table: Mapping[str, Any], path: Path, where: str) -> Config:
    known_keys(table, _KEYS, path, where)
    return Config(
        path=path,
        settings=_settings(table, path, where),
        strict=flag(table, "strict", path),
        exclude=patterns(table, "exclude", path),
        tolerances=tolerances_of(table, path),
        overrides=tuple(
            _override(one, path, f"{where}overrides {number}: ")
            for number, one in enumerate(tables(table, "overrides", path), 1)
        ),
    )


def _override(table: Mapping[str, Any], path: Path, where: str) -> Override:
    known_keys(table, ("files", *_CHECKED), path, where)
    files = patterns(table, "files", path)
    if not files:
        raise ConfigError(f'{path}: {where}says no files; add files = "models/pico/*.tflite"')
    return Override(files=files, settings=_settings(table, path, where))


def _settings(table: Mapping[str, Any], path: Path, where: str) -> CheckSettings:
    if "device" in table and "ram" in table:
        raise ConfigError(f"{path}: {where}has both device and ram; say one of them")
    reasons = reasons_of(table, path)
    return CheckSettings(
        select=words(table, "select", path),
        ignore=tuple(word for word, _ in reasons),
        devices=device_names(table, path),
        ram=text(table, "ram", path),
        accelerator=text(table, "accelerator", path),
        expect=text(table, "expect", path),
        reasons=tuple((word, reason) for word, reason in reasons if reason),
    )


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


def _value(table: Table, key: str, path: Path, is_right: Callable[[Any], bool], kind: str) -> Any:
    """The value of a key, an empty list if there is none; ConfigError if it is of another kind."""
    value = table.get(key, [])
    if not is_right(value):
        raise ConfigError(f"{path}: {key} {kind}, not {kind_of(value)}")
    return value


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_text_or_texts(value: Any) -> bool:
    return isinstance(value, str) or _is_texts(value)


def _listed(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def words(table: Table, key: str, path: Path) -> tuple[str, ...]:
    """A list of texts."""
    kind = 'is a list of texts such as ["Q1", "zero-scale"]'
    return tuple(_value(table, key, path, _is_texts, kind))


def patterns(table: Table, key: str, path: Path) -> tuple[str, ...]:
    """A pattern of file names, or a list of them."""
    kind = 'is a pattern such as "pico/*.tflite" or a list of them'
    found = _value(table, key, path, lambda value: _is_text_or_texts(value) and all(_listed(value)), kind)
    for pattern in _listed(found):
        if pattern.startswith("!"):
            raise ConfigError(
                f"{path}: {key} has {pattern!r}: no pattern takes back another; name what is meant"
            )
    return _listed(found)


def tables(table: Table, key: str, path: Path) -> tuple[Table, ...]:
    """Tables of one kind, as `[[tool.outlive.overrides]]` makes them."""

    def are_tables(value: Any) -> bool:
        return isinstance(value, list) and all(isinstance(item, dict) for item in value)

    return tuple(_value(table, key, path, are_tables, f"are tables, each headed [[tool.outlive.{key}]]"))


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
    kind = 'is a text such as "raspberry-pi-pico" or a list of them'
    listed = _listed(_value(table, "device", path, _is_text_or_texts, kind))
    return tuple(os.path.join(path.parent, name) if name.endswith(".toml") else name for name in listed)


def text(table: Table, key: str, path: Path) -> str | None:
    """A text, or nothing."""
    kind = f'is a text such as "{_EXAMPLES[key]}"'
    found = _value(table, key, path, lambda value: key not in table or isinstance(value, str), kind)
    return str(found) if key in table else None


def flag(table: Table, key: str, path: Path) -> bool:
    """True or false."""
    is_right = key not in table
    return bool(
        _value(table, key, path, lambda value: is_right or isinstance(value, bool), "is true or false")
    )


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


def is_match(path: str | os.PathLike[str], patterns: Sequence[str], folder: Path) -> bool:
    """True if one of the patterns, as in a .gitignore of the folder, names the file or a folder it is in.

    A file elsewhere is named by its whole path, and no folder above it counts.
    """
    if not patterns:
        return False
    named, whole = _compile(tuple(patterns)), Path(os.path.abspath(path))
    if whole.is_relative_to(folder):
        return named.match_file(whole.relative_to(folder).as_posix())
    above = (f"{one.as_posix().lstrip('/')}/" for one in whole.parents)
    return named.match_file(whole.as_posix().lstrip("/")) and not any(map(named.match_file, above))


# What the lines of an ignore file say of a path (True stands for a folder): leave it out, keep it, or None.
Patterns = Callable[[str, bool], bool | None]


def read_patterns(lines: Sequence[str]) -> Patterns:
    """What lines as in a .gitignore say of a path: leave it out, keep it, or nothing."""
    if not any(line.strip() for line in lines):
        return lambda path, is_folder: None
    compiled = _compile(tuple(lines))

    def verdict(path: str, is_folder: bool) -> bool | None:
        return compiled.check_file(Path(path).as_posix() + ("/" if is_folder else "")).include

    return verdict


class _Pattern(GitIgnoreSpecPattern):
    """A line of a .gitignore: in git, unlike pathspec 1.1, `[!a]` matches no slash, `[z-a]` nothing."""

    __slots__ = ()

    @classmethod
    def pattern_to_regex(cls, pattern: Any) -> Any:
        """The expression for a line, and whether it includes what matches."""
        expression, include = super().pattern_to_regex(pattern)
        expression = expression and expression.replace("[^", "[^/")
        try:
            re.compile(expression or "")
        except re.error:
            return None, None
        return expression, include


@functools.lru_cache(maxsize=64)
def _compile(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    # `./x` is what people write for git's `/x`.
    lines = (f"/{one[2:]}" if one.startswith("./") else one for one in patterns)
    return GitIgnoreSpec.from_lines(lines, _Pattern)
