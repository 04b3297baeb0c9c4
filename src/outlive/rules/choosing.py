"""Which rules are asked: by code (`Q103`), by the start of one (`Q`, `Q1`), or by name (`zero-scale`)."""

from __future__ import annotations

from collections.abc import Iterable

from outlive.rules.catalogue import RULES, near_rules
from outlive.rules.engine import Rule


def choose_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Rule, ...]:
    """The rules selected (all, if nothing is said) without those ignored; ValueError for unknown words.

    What makes a file one that cannot be trusted is looked for whatever is selected: a file that could not be
    read is not a clean one. It can still be ignored by name.
    """
    wanted, unwanted = _codes(select), _codes(ignore)
    return tuple(
        rule
        for rule in RULES
        if rule.code not in unwanted and (not wanted or rule.code in wanted or rule.facts == ("file",))
    )


def split_words(text: str) -> list[str]:
    """The words of `Q1,F104 zero-scale`; commas and spaces separate them."""
    return text.replace(",", " ").split()


def _codes(words: Iterable[str]) -> set[str]:
    if isinstance(words, str):
        words = split_words(words)
    return {code for word in words for code in _meant(word)}


def _meant(word: str) -> set[str]:
    """The codes a word stands for."""
    given = word.strip()
    found = {
        rule.code
        for rule in RULES
        if given and (rule.code.startswith(given.upper()) or rule.name == given.lower())
    }
    if not found:
        near = ", ".join(near_rules(given))
        families = ", ".join(sorted({rule.code[0] for rule in RULES}))
        hint = f"did you mean {near}?" if near else f"`outlive explain` lists them ({families})"
        raise ValueError(f"no rule has the code, start of a code or name {given[:80]!r}; {hint}")
    return found
