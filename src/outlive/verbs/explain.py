"""`explain`: the pages of rules."""

from typing import ClassVar

from outlive.rules import Rule, RuleList, find_rule, load_rules, near_rules


class Explanation(str):
    """The pages as text; `.rules` are the rules."""

    rules: tuple[Rule, ...] = ()
    kind: ClassVar[str] = "explain"

    @property
    def as_document(self) -> RuleList:
        """The rules."""
        from outlive.rules import RuleList

        return RuleList(rules=self.rules)


def explain(*codes: str) -> Explanation:
    """Explain findings by code or name; without any, list every code with its headline.

    Raises LookupError for an unknown rule.

    >>> print(outlive.explain("F104"))  # or outlive.explain("git-lfs-pointer")
    F104 git-lfs-pointer ...
    """
    from outlive.rendering.pages.explain import catalogue_text, rule_page

    rules = tuple(map(_find, codes)) or load_rules()
    explanation = Explanation("\n\n".join(map(rule_page, rules)) if codes else catalogue_text(rules))
    explanation.rules = rules
    return explanation


def _find(word: str) -> Rule:
    found = find_rule(word)
    if found is None:
        near = ", ".join(near_rules(word))
        raise LookupError(f"unknown rule {word!r}" + (f"; did you mean {near}?" if near else ""))
    return found
