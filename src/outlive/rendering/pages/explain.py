"""The pages of rules: a docstring each, with a heading and what it needs; or all of them in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlive.rendering import page as ui
from outlive.rules import Rule
from outlive.units import plural


def page(found: Any) -> ui.Page:
    """The page of `outlive explain`."""
    if len(found.rules) == 1:
        (rule,) = found.rules
        verdict = ui.PageVerdict("plain", rule.severity.value, rule.summary)
        return ui.Page(
            title=f"{rule.code} {rule.name}", kind="explain", verdict=verdict, sections=_parts(rule)
        )
    columns = ui.columns("code: mono | severity | name: mono | headline: wide")
    rows = [(rule.code, rule.severity.value, rule.name, rule.summary) for rule in found.rules]
    table = ui.Table("rules", plural(len(rows), "rule"), columns, rows, brief=len(rows))
    verdict = ui.PageVerdict("plain", plural(len(rows), "rule"))
    sections = (ui.Section("rules", "Rules", (table,)),)
    return ui.Page(title="Findings", kind="explain", verdict=verdict, sections=sections)


def _parts(rule: Rule) -> tuple[ui.Section, ...]:
    sections: list[ui.Section] = []
    title = ""
    lines: list[str] = []
    for line in [*rule.doc.partition("\n")[2].splitlines(), "end"]:
        if line and not line.startswith(" "):
            if title:
                blocks: tuple[ui.Block, ...] = (ui.Words(" ".join(lines)),)
                sections.append(ui.Section(title.lower().replace(" ", "-"), title, blocks))
            title, lines = line, []
        else:
            lines.append(line.strip())
    return tuple(sections)


def catalogue_text(rules: Sequence[Rule]) -> str:
    """Every code with its headline, one in a line."""
    width = max(len(rule.name) for rule in rules)
    return "\n".join(
        f"{rule.code}  {rule.severity.value:<7}  {rule.name:<{width}}  {rule.summary}" for rule in rules
    )


def rule_page(rule: Rule) -> str:
    """What `outlive explain` shows, as plain text."""
    summary, _, rest = rule.doc.partition("\n")
    facts = ", ".join(rule.facts)
    head = f"{rule.code} {rule.name} ({rule.severity.value}, since {rule.since}; needs: {facts})"
    return f"{head}\n{summary}\n{rest}"


def rule_markdown(rule: Rule) -> str:
    """The same page for the documentation."""
    summary, _, rest = rule.doc.partition("\n")
    lines = [f"# {rule.code} {rule.name}", "", f"> {rule.severity.value}: {summary}", ""]
    for line in rest.strip("\n").splitlines():
        section = bool(line) and not line.startswith(" ")
        lines += [f"## {line}", ""] if section else [line.strip()]
    lines += ["", f"Since {rule.since}. Needs: {', '.join(f'`{fact}`' for fact in rule.facts)}.", ""]
    return "\n".join(lines)
