"""Findings that a project knows already: a file of them, and a check without them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from outlive.atomic_files import FilePath, write_whole
from outlive.finding import Finding
from outlive.rules.checked import Checked, Checks

_KIND = {"schema": "outlive/1", "kind": "baseline"}
# No baseline that a check wrote is larger.
_MOST_BYTES = 64 << 20
# File, code, place: not the headline, whose values may change with the file.
Known = tuple[str, str, str]


def write_known(checks: Checks, path: FilePath) -> None:
    """Write all findings of a check to a file, as known; OSError if that fails."""
    found = sorted(key for _, key in _keys(checks, path))
    rows = [{"file": file, "code": code, "where": where} for file, code, where in found]
    write_whole(path, json.dumps({**_KIND, "findings": rows}, indent=1) + "\n")


def without_known(checks: Checks, path: FilePath) -> Checks:
    """The check without the findings in a baseline; ValueError for a file that is none."""
    left = Counter(_read(path))
    count = left.total()
    new: dict[int, list[Finding]] = {id(file): [] for file in checks.files}
    for (file, finding), key in _keys(checks, path):
        if left[key] > 0:
            left[key] -= 1
        else:
            new[id(file)].append(finding)
    files = tuple(_with(file, tuple(new[id(file)])) for file in checks.files)
    return replace(checks, files=files, known=count - left.total())


def _with(file: Checked, findings: tuple[Finding, ...]) -> Checked:
    return replace(file, judgement=replace(file.judgement, findings=findings))


def _keys(checks: Checks, baseline: FilePath) -> Iterator[tuple[tuple[Checked, Finding], Known]]:
    """Each finding with what it is known by: its file as seen from the baseline's folder, wherever we are."""
    folder = os.path.dirname(os.path.abspath(baseline))
    for file in checks.files:
        path = file.reading.path or ""
        name = os.path.relpath(path, folder).replace(os.sep, "/") if path else ""
        for finding in file.judgement.findings:
            yield (
                (file, finding),
                (name, finding.code, finding.where.replace(path, "", 1) if path else finding.where),
            )


def _read(path: FilePath) -> list[Known]:
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            raise ValueError(f"{os.fspath(path)} is too large for a baseline")
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        is_ours = {key: document.get(key) for key in _KIND} == _KIND
        rows = [(row["file"], row["code"], row["where"]) for row in document["findings"]] if is_ours else None
    except OSError as error:
        raise ValueError(f"the baseline {os.fspath(path)} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        rows = None
    if rows is None or not all(isinstance(word, str) for row in rows for word in row):
        raise ValueError(f"{os.fspath(path)} is not a baseline; --write-baseline writes one")
    return rows
