"""The tool that brings the charting library takes no archive but the pinned one."""

from __future__ import annotations

import io
import tarfile

import pytest

from tools import vendor_uplot


def test_another_archive_is_refused() -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("package/LICENSE"), io.BytesIO(b""))
    with pytest.raises(SystemExit, match=r"this is not uplot 1\.6\.32"):
        vendor_uplot.unpack(content.getvalue())


def test_what_differs_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    same = {"LICENSE": (vendor_uplot.FOLDER / "LICENSE").read_bytes()}
    assert vendor_uplot.compare(same) == 0
    assert vendor_uplot.compare({"uPlot.min.css": b"other"}) == 1
    assert "uPlot.min.css is not that of uplot" in capsys.readouterr().out
