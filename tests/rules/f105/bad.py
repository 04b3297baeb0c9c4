"""An error page with a title."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, "<!DOCTYPE html>\n<html><head><title>404: not found</title></head></html>\n")
