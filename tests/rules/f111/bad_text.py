"""A name that does not end in a zero byte."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    data = write(dense(description="no end"))
    return save(tmp_path, data.replace(b"no end\0", b"no end!"))
