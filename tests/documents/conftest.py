"""One process for all pages: it imports once, and forks for each command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from docs_pages import PageRunner
from docs_server import PageServer

from tests.documents.site_build import build_site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = (ROOT / "zensical.toml").read_text("utf-8")
    return build_site(tmp_path_factory.mktemp("site"), ROOT / "docs", settings)


@pytest.fixture(scope="session")
def server() -> Iterator[PageServer]:
    started = PageServer()
    yield started
    started.close()


@pytest.fixture(scope="session")
def runner(server: PageServer) -> PageRunner:
    return PageRunner(server=server)
