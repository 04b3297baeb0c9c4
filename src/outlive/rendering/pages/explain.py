"""The page of a rule: its docstring, with a heading and what it needs."""

from __future__ import annotations

from outlive.rules import Rule


def rule_page(rule: Rule) -> str:
    """What `outlive explain` shows, as plain text."""
    summary, _, rest = rule.doc.partition("\n")
    facts = ", ".join(rule.facts)
    head = f"{rule.code} {rule.name} ({rule.severity.value}, since {rule.since}; looks at: {facts})"
    return f"{head}\n{summary}\n{rest}"


def rule_markdown(rule: Rule) -> str:
    """The same page for the documentation."""
    summary, _, rest = rule.doc.partition("\n")
    lines = [f"# {rule.code} {rule.name}", "", f"> {rule.severity.value}: {summary}", ""]
    for line in rest.strip("\n").splitlines():
        section = bool(line) and not line.startswith(" ")
        lines += [f"## {line}", ""] if section else [line.strip()]
    lines += ["", f"Since {rule.since}. Looks at: {', '.join(f'`{fact}`' for fact in rule.facts)}.", ""]
    return "\n".join(lines)
