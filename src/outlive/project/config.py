"""What a project says once for all: `[tool.outlive]` in pyproject.toml, or the same keys in outlive.toml."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from outlive.project.settings import (
    ConfigError,
    UnreadableConfig,
    device_names,
    flag,
    known_keys,
    patterns,
    reasons_of,
    table_of,
    tables,
    text,
    tolerances_of,
    words,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# No configuration that was written by hand is larger.
_MOST_BYTES = 4 * 2**20
_CHECKED = ("select", "ignore", "device", "ram", "accelerator", "expect")
_KEYS = (*_CHECKED, "strict", "exclude", "tolerances", "overrides")


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
