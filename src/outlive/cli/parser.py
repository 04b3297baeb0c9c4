"""The parser of every command. The start of `outlive` loads it, so it loads little itself."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser that shows words it does not know escaped: a shell may have taken them from file names."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Like argparse, but a command complains itself of words it does not know, with its own usage."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and " " in self.prog:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._near(unknown)}")
        return found, unknown

    def _near(self, unknown: list[str]) -> str:
        from difflib import get_close_matches

        options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        known = self._option_string_actions
        near = [found for word in options for found in get_close_matches(word, known, 1)]
        return f"; did you mean {near[0]}?" if near else ""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words, and leave."""
        from outlive.names import safe

        super().error(safe(message))
