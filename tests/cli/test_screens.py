"""The main commands show what `golden/` holds, at 60, 80 and 120 columns; and none of it is long or cut."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from outlive.rendering import page as ui
from tests.cli.screens import COLUMNS, FOLDER, SCREENS, masked, masked_page, shown


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("name", SCREENS)
def test_a_terminal_shows_what_is_kept(name: str, columns: int) -> None:
    kept = (FOLDER / f"{name}.{columns}.txt").read_text(encoding="utf-8")
    found = shown(SCREENS[name], columns)
    assert found == kept, "if the new screen is right, run python -m tests.cli.screens " + name


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_short_and_not_cut(name: str, columns: int) -> None:
    lines = (FOLDER / f"{name}.{columns}.txt").read_text(encoding="utf-8").splitlines()
    wide = [line for line in lines if cell_len(line) > columns and " " in line.strip()]
    assert wide == []
    assert columns == min(COLUMNS) or len(lines) <= SCREENS[name].most_lines


def test_there_is_no_screen_too_many() -> None:
    kept = {path.name for path in FOLDER.iterdir()}
    assert kept == {f"{name}.{columns}.txt" for name in SCREENS for columns in COLUMNS}


def test_masks_leave_what_does_not_change() -> None:
    said = "✓ m.tflite  4.37 ms, at most 608 KiB, O109, 1x64x64x3 float32, op 14 at 21.1 dB"
    same = "✓ m.tflite  ##.# ms, at most ##.# KiB, O109, 1x64x64x3 float32, op 14 at ##.# dB"
    assert masked(said) == same
    assert masked("3 errors") != masked("4 errors")
    assert masked("3 MiB") != masked("3 KiB")


def test_cells_are_masked_by_their_kind() -> None:
    columns = ui.columns("name: mono | size: bytes | share: share | SQNR, dB: number | op: number")
    table = ui.Table("t", "3.1 MiB", columns, [("a", 12, 0.5, 21.07, 14), ("b", None, 1.0, 3.0, None)])
    found = masked_page(ui.Section("s", "Title", (table,))).blocks[0]
    assert found.caption == "##.# MiB"
    assert found.rows == [("a", "##.# KiB", "##.#%", "##.#", "14"), ("b", "", "##.#%", "##.#", "")]
