"""The catalogue: the module of every rule, in the order of codes.

    "file.f104_git_lfs_pointer"   rules/file/f104_git_lfs_pointer.py: F104, git-lfs-pointer

Codes and names are read from the names of the files; a rule is loaded when it is asked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

from outlive.rules.rule import Rule

_FILES = Path(__file__).parent.glob("*/[a-z][0-9][0-9][0-9]_*.py")
_MODULES = sorted(f"{file.parent.name}.{file.stem}" for file in _FILES)


def load_rules(*starts: str) -> tuple[Rule, ...]:
    """The rules whose codes begin with one of these, `D50` for instance; all rules if none is given."""
    return tuple(_load(module) for module in _MODULES if _code(module).startswith(starts or ""))


@cache
def _load(module: str) -> Rule:
    found = vars(import_module(f"outlive.rules.{module}")).values()
    return next(item for item in found if isinstance(item, Rule) and item.code == _code(module))


def _code(module: str) -> str:
    return module.partition(".")[2][:4].upper()


def _name(module: str) -> str:
    return module.partition("_")[2].replace("_", "-")


def find_rule(word: str) -> Rule | None:
    """The rule with this code or name, in upper or lower case."""
    wanted = word.strip().lower()
    found = (module for module in _MODULES if wanted in (_code(module).lower(), _name(module)))
    return next(map(_load, found), None)


def near_rules(word: str) -> list[str]:
    """Codes and names that look like a mistyped one."""
    known = [*map(_code, _MODULES), *map(_name, _MODULES)]
    typed = word.strip()
    return difflib.get_close_matches(typed.upper(), known, 3) or difflib.get_close_matches(
        typed.lower(), known, 3
    )


def choose_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Rule, ...]:
    """The rules selected by code, start of a code or name (all, if none is), without those ignored.

    Rules that say whether a file can be trusted run whatever is selected: a file that could not be read is
    not a clean one. They can still be ignored by name. Raises ValueError for unknown words.
    """
    wanted, unwanted = _codes(select), _codes(ignore)
    return tuple(
        rule
        for rule in load_rules()
        if rule.code not in unwanted and (not wanted or rule.code in wanted or rule.facts == ("file",))
    )


def split_words(text: str) -> list[str]:
    """The words of `Q1,F104 zero-scale`; commas and spaces separate them."""
    return text.replace(",", " ").split()


def _codes(words: Iterable[str]) -> set[str]:
    if isinstance(words, str):
        words = split_words(words)
    return {code for word in words for code in _meant(word.strip())}


def _meant(word: str) -> set[str]:
    """The codes that a word stands for."""
    found = {
        _code(module)
        for module in _MODULES
        if word and (_code(module).startswith(word.upper()) or _name(module) == word.lower())
    }
    if not found:
        near = ", ".join(near_rules(word))
        families = ", ".join(sorted({_code(module)[0] for module in _MODULES}))
        hint = f"did you mean {near}?" if near else f"`outlive explain` lists them ({families})"
        raise ValueError(f"no rule has the code, start of a code or name {word[:80]!r}; {hint}")
    return found
