"""Findings as JUnit XML, which nearly every CI service draws as tests.

A suite for each file, and in it a case for each error; a file where nothing fails has one case that passes.
What does not fail a check (notes, and warnings unless they are to) is in `system-out`. Element and attribute
names are those that Ant's JUnit task writes.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from outlive.finding import Finding, Severity
from outlive.names import safe
from outlive.rendering.finding_text import plain_finding
from outlive.rendering.places import place_within, relative_path
from outlive.rules.checked import Checked, Checks

_LIMIT = 1000


def render(checks: Checks) -> str:
    """The document, with paths as seen from this folder."""
    return junit_xml(checks.files, Path.cwd(), strict=checks.strict)


def junit_xml(rows: Sequence[Checked], folder: Path, *, strict: bool = False) -> str:
    """The whole document; with `strict` warnings fail too."""
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    root = ET.Element("testsuites", name="outlive check")
    for row in rows:
        root.append(_suite(row, safe(relative_path(row.reading.path, folder)) or "model", failing))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, 0)) for suite in root)))
    root.set("time", "0")
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(row: Checked, place: str, failing: set[Severity]) -> ET.Element:
    bad = [finding for finding in row.judgement if finding.severity in failing]
    rest = [finding for finding in row.judgement if finding.severity not in failing]
    suite = ET.Element("testsuite", name=place, tests=str(max(1, len(bad))), failures=str(len(bad)))
    suite.attrib |= {"errors": "0", "skipped": "0", "time": "0"}
    for finding in bad:
        suite.append(_case(finding, place, place_within(finding, row.reading.path)))
    if not bad:
        ET.SubElement(suite, "testcase", name="check", classname=place, file=place, time="0")
    if rest:
        text = "\n\n".join(plain_finding(finding, detail=1) for finding in rest)
        ET.SubElement(suite, "system-out").text = _allowed(text)
    return suite


def _case(finding: Finding, place: str, inside: str) -> ET.Element:
    name = f"{finding.code} {finding.name} {safe(inside, _LIMIT)}".rstrip()
    case = ET.Element("testcase", name=name, classname=place, file=place, time="0")
    failure = ET.SubElement(case, "failure", message=safe(finding.headline, _LIMIT), type=finding.code)
    failure.text = _allowed(plain_finding(finding, detail=1))
    return case


def _allowed(text: str) -> str:
    """The text without characters that XML 1.0 has no way to write."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)
