"""What a check left out because the project said so, and why; and that there was nothing to check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.names import safe
from outlive.rules.checked import Checked

if TYPE_CHECKING:
    from rich.console import RenderableType


def ignored_text(rows: Sequence[Checked], reasons: Sequence[tuple[str, str]]) -> Iterator[RenderableType]:
    """A line for each rule that is ignored for a reason."""
    from rich.text import Text

    if not rows:
        yield Text("no model to check: none has changed, or all are excluded", style="green")
    for word, reason in reasons:
        yield Text(f"ignored: {safe(word, 80)}, because {safe(reason, 300)}", style="dim")
