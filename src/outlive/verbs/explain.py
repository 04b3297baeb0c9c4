"""`explain`: the page of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


def explain(word: str) -> str:
    """The page of a rule, by its code or name: `explain("F104")`, `explain("git-lfs-pointer")`."""
    from outlive.rendering.pages.explain import rule_page
    from outlive.rules.catalogue import find_rule, near_rules

    found = find_rule(word)
    if found is None:
        near = ", ".join(near_rules(word))
        raise LookupError(f"there is no rule {word!r}" + (f"; did you mean {near}?" if near else ""))
    return rule_page(found)
