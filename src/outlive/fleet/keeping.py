"""Rows kept from one scan to the next, by the model's bytes and all that decides what a row says."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass, replace
from pathlib import Path

from outlive.cache import cache_folder, keep, recall
from outlive.fleet.nouns import Order, Task, versions
from outlive.fleet.rows import Row, read_row

_MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """A folder of rows."""

    folder: Path

    def recall(self, task: Task) -> Row | None:
        """What this file came to the last time; None if that is not known, or cannot be read."""
        if not task.sha256:
            return None
        try:
            row = read_row(recall(self._path(task.sha256, task.order_key), _MOST_BYTES))
        except ValueError:
            return None
        if (row.sha256, row.order_key) != (task.sha256, task.order_key):
            return None
        return replace(row, path=task.path, name=task.name, number=task.number, from_cache=True, same_as=None)

    def keep(self, row: Row, order: Order) -> None:
        """Keep a row that another scan would find just so; one that cannot be written is forgotten."""
        if row.passing or row.from_cache or not row.sha256:
            return  # of the moment
        elsewhere = (order.run or order.delegates) and row.host != platform.node()
        if elsewhere or dict(row.versions) != versions():
            return  # found out by other versions, or by running it on another machine
        keep(self._path(row.sha256, row.order_key), row.line())

    def _path(self, sha256: str, order_key: str) -> Path:
        key = hashlib.sha256(f"{sha256}|{order_key}".encode()).hexdigest()
        return self.folder / key[:2] / f"{key}.json"


def usual_cache() -> Cache:
    """The user's: `OUTLIVE_CACHE`, else the system's cache folder."""
    return Cache(folder=cache_folder("scan"))
