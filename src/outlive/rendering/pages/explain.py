"""The pages of rules: a docstring each, with a heading and what it needs; or all of them in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlive.rendering.page import Block, Column, Page, PageVerdict, Section, Table, Words
from outlive.rules import Rule
from outlive.units import plural


def page(found: Any) -> Page:
    """The page of `outlive explain`."""
    if len(found.rules) == 1:
        (rule,) = found.rules
        verdict = PageVerdict(tone="plain", word=rule.severity.value, sentence=rule.summary)
        return Page(title=f"{rule.code} {rule.name}", kind="explain", verdict=verdict, sections=_parts(rule))
    columns = (
        Column(title="code", kind="mono"),
        Column(title="severity"),
        Column(title="name", kind="mono"),
        Column(title="headline", wide=True),
    )
    rows = [(rule.code, rule.severity.value, rule.name, rule.summary) for rule in found.rules]
    table = Table(id="rules", caption=plural(len(rows), "rule"), columns=columns, rows=rows, brief=len(rows))
    verdict = PageVerdict(tone="plain", word=plural(len(rows), "rule"))
    sections = (Section(id="rules", title="Rules", blocks=(table,)),)
    return Page(title="Findings", kind="explain", verdict=verdict, sections=sections)


def _parts(rule: Rule) -> tuple[Section, ...]:
    sections: list[Section] = []
    title = ""
    lines: list[str] = []
    for line in [*rule.doc.partition("\n")[2].splitlines(), "end"]:
        if line and not line.startswith(" "):
            if title:
                blocks: tuple[Block, ...] = (Words(text=" ".join(lines)),)
                sections.append(Section(id=title.lower().replace(" ", "-"), title=title, blocks=blocks))
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
