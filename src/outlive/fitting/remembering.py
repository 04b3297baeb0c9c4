"""What a search found out, kept for the next one: by model, samples, recipe, versions and machine.

Nothing here raises: what cannot be kept is found out again.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from outlive.cache import keep, recall

# What is kept is of no use to another version of this file.
_FORM = "1"
_PACKAGES = ("outlive", "ai-edge-litert", "ai-edge-quantizer", "tensorflow", "tensorflow-cpu")
_MOST_NOTE_BYTES = 1 << 16
_MOST_MODEL_BYTES = 128 << 20


class Shelf:
    """A folder of the user's own, for small notes and for models that were built; None keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        """Make the folder, readable to nobody else; one that is somebody else's is not used."""
        self._folder = None if folder is None else _own(folder)

    def recall(self, *key: object) -> dict[str, Any]:
        """The note under that key; empty if there is none, or none that can be read."""
        content = self._read(self._path(key, ".json"), _MOST_NOTE_BYTES)
        try:
            found = json.loads(content) if content else {}
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def keep(self, note: Mapping[str, Any], *key: object) -> None:
        """Keep a note."""
        self._write(self._path(key, ".json"), json.dumps(note).encode())

    def recall_model(self, *key: object) -> bytes:
        """The model under that key; empty if there is none, or it is not what was kept."""
        wanted = self.recall("model", *key).get("sha256")
        content = self._read(self._path(key, ".tflite"), _MOST_MODEL_BYTES)
        return content if content and hashlib.sha256(content).hexdigest() == wanted else b""

    def keep_model(self, content: bytes, *key: object) -> None:
        """Keep a model, if it is not too large for that."""
        if len(content) <= _MOST_MODEL_BYTES:
            self._write(self._path(key, ".tflite"), content)
            self.keep({"sha256": hashlib.sha256(content).hexdigest()}, "model", *key)

    @cached_property
    def _surroundings(self) -> tuple[str, ...]:
        return (_FORM, *map(_version, _PACKAGES), platform.machine(), platform.node(), str(os.cpu_count()))

    def _path(self, key: tuple[object, ...], suffix: str) -> Path:
        words = json.dumps([*self._surroundings, *map(str, key)])
        name = hashlib.sha256(words.encode()).hexdigest()
        return (self._folder or Path()) / f"{name}{suffix}"

    def _read(self, path: Path, most_bytes: int) -> bytes:
        return b"" if self._folder is None else recall(path, most_bytes)

    def _write(self, path: Path, content: bytes) -> None:
        if self._folder is not None:
            keep(path, content)


def _own(folder: Path) -> Path | None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return None
        folder.chmod(0o700)
    except OSError:
        return None
    return folder


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"
