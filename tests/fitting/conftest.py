"""Searches remember: here each module remembers in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of this module's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OUTLIVE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
