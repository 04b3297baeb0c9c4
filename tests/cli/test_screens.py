"""The main commands show what `golden/` holds, at 60, 80 and 120 columns; and none of it is long or cut."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tests.cli.screens import COLUMNS, FOLDER, SCREENS, masked, shown, words_of
from tests.repetition import repeats, rounds


def screens() -> list[tuple[str, int]]:
    """Each screen at each width; of one that is compared by its words the narrowest, which cuts most."""
    widths = {True: COLUMNS[: rounds(1, soak=len(COLUMNS))], False: COLUMNS}
    return [(name, columns) for name, screen in SCREENS.items() for columns in widths[screen.measured]]


@repeats
@pytest.mark.parametrize(("name", "columns"), screens())
def test_a_terminal_shows_what_is_kept(name: str, columns: int) -> None:
    screen = SCREENS[name]
    kept = (FOLDER / f"{name}.{columns}.txt").read_text(encoding="utf-8")
    found = shown(screen, columns)
    hint = "if the new screen is right, run python -m tests.cli.screens " + name
    if screen.measured:
        assert words_of(found) == words_of(kept), hint
    else:
        assert found == kept, hint


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
    said = "✓ m.tflite  4.37 ms, at most 608 KiB, O109, 1x64x64x3 float32, op 14 at 21.1 dB ▁▂█"
    assert (
        masked(said) == "✓ m.tflite  #.## ms, at most ### KiB, O109, 1x64x64x3 float32, op 14 at ##.# dB ~~~"
    )
    assert words_of("###.# KiB  of\n  # MiB ~~~") == words_of("#.## MiB of #,### MiB ~")
    assert words_of("# errors") != words_of("# notes")
