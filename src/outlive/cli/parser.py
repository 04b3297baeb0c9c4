"""The parser of every command. The start of `outlive` loads it, so it loads little itself."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser that shows words it does not know escaped: a shell may have taken them from file names."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words, and leave."""
        from outlive.names import safe

        super().error(safe(message))
