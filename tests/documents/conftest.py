"""One process for all pages: it imports once, and forks for each command."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.documents.page_server import PageServer


@pytest.fixture(scope="session")
def server() -> Iterator[PageServer]:
    started = PageServer()
    yield started
    started.close()
