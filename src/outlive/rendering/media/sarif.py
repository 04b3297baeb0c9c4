"""Findings as SARIF 2.1.0, the format that code scanning services read.

Names and meanings are those of the OASIS standard "Static Analysis Results Interchange Format 2.1.0".
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from outlive.finding import Finding, Severity
from outlive.names import safe, sentence, whole
from outlive.rendering.media.json import Json, dump
from outlive.rendering.pages.explain import rule_markdown, rule_page
from outlive.rendering.places import artifact_uri, place_within
from outlive.rules import Rule
from outlive.rules.checked import Checked, Checks

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
# What GitHub sorts by when a rule has no security severity.
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}
_PRECISION = {"certain": "very-high", "likely": "high"}
_LIMIT = 1000
_TENSOR = re.compile(r"\btensor \d+")


def render(checks: Checks) -> str:
    """The log, with paths as seen from this folder."""
    return dump(sarif_log(checks.files, checks.rules, Path.cwd())) + "\n"


def sarif_log(rows: Sequence[Checked], rules: Sequence[Rule], folder: Path) -> Json:
    """The whole log: one run, all rules that were asked, a result for each finding."""
    index = {rule.code: place for place, rule in enumerate(rules)}
    run: Json = {
        "tool": {"driver": _driver(rules)},
        "invocations": [
            {"executionSuccessful": True, "toolExecutionNotifications": list(_notifications(rows, index))}
        ],
        "artifacts": [_artifact(row, folder) for row in rows],
        "results": list(_results(rows, index, folder)),
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _driver(rules: Iterable[Rule]) -> Json:
    from importlib.metadata import PackageNotFoundError, version

    driver: Json = {"name": "outlive", "rules": [_rule(rule) for rule in rules]}
    try:
        return {**driver, "version": version("outlive")}
    except PackageNotFoundError:
        return driver


def _rule(rule: Rule) -> Json:
    summary = rule.summary
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": f"{summary}."},
        "fullDescription": {"text": f"{summary}. {_section(rule, 'Why it matters')}".strip()},
        "help": {"text": rule_page(rule), "markdown": rule_markdown(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "tags": [f"family-{rule.code[0]}", *([f"cause-{rule.cause}"] if rule.cause else ())],
            "problem.severity": _PROBLEMS[rule.severity],
            "page": f"docs/reference/rules/{rule.code}.md",
        },
    }


def _section(rule: Rule, title: str) -> str:
    """The text of a section of a rule's page, on one line."""
    _, _, rest = rule.doc.partition(f"\n{title}\n")
    lines = []
    for line in rest.splitlines():
        if line and not line.startswith(" "):
            break
        lines.append(line.strip())
    return " ".join(" ".join(lines).split())


def _artifact(row: Checked, folder: Path) -> Json:
    artifact: Json = {"length": row.reading.file_bytes, "roles": ["analysisTarget"]}
    uri = artifact_uri(row.reading.path, folder)
    if uri:
        artifact["location"] = {"uri": uri}
    if row.reading.model is not None:
        artifact["hashes"] = {"sha-256": row.reading.model.sha256}
    return artifact


def _results(rows: Sequence[Checked], index: dict[str, int], folder: Path) -> Iterator[Json]:
    for place, row in enumerate(rows):
        seen: Counter[str] = Counter()
        for finding in row.judgement:
            mark = _fingerprint(finding, row.reading.path)
            seen[mark] += 1
            yield {
                "ruleId": finding.code,
                "ruleIndex": index[finding.code],
                "kind": "fail",
                "level": _LEVELS[finding.severity],
                "message": {"text": _message(finding, place_within(finding, row.reading.path))},
                "locations": [_location(finding, row, place, folder)],
                # The order tells two of one kind in one place apart.
                "partialFingerprints": {"outliveFinding/v1": f"{mark}:{seen[mark]}"},
                "properties": _properties(finding),
            }


def _message(finding: Finding, place: str) -> str:
    parts = [finding.headline, *filter(None, (place, finding.why))]
    parts += [item.fact for item in finding.evidence[:3]]
    parts += [f"Fix: {item.action}" for item in finding.remedies[:1]]
    return " ".join(safe(sentence(part), _LIMIT) for part in parts)


def _location(finding: Finding, row: Checked, place: int, folder: Path) -> Json:
    """The file, and in it the operator. Services that show lines want one: a model has only the first."""
    location: Json = {"logicalLocations": [_logical(finding, place_within(finding, row.reading.path))]}
    uri = artifact_uri(row.reading.path, folder)
    if uri:
        location["physicalLocation"] = {
            "artifactLocation": {"uri": uri, "index": place},
            "region": {"startLine": 1},
        }
    return location


def _logical(finding: Finding, place: str) -> Json:
    """The operator or tensor it is about; the whole model where it is about neither."""
    if finding.op is not None:
        op, name = finding.op, safe(finding.op.type, _LIMIT)
        whole = f"subgraph {op.subgraph}/op {op.index} {name}"
        return {"name": name, "fullyQualifiedName": whole, "kind": "function"}
    tensor = _TENSOR.search(place)
    if tensor is not None:
        return {"name": tensor[0], "fullyQualifiedName": safe(place, _LIMIT), "kind": "variable"}
    return {"name": "model", "fullyQualifiedName": safe(place, _LIMIT) or "model", "kind": "module"}


def _fingerprint(finding: Finding, path: str | None) -> str:
    """What stays the same when the file is moved, or trained again."""
    op = "" if finding.op is None else f"{finding.op.subgraph}/{finding.op.index}/{finding.op.type}"
    text = "\0".join((finding.code, place_within(finding, path), op)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(text).hexdigest()[:32]


def _properties(finding: Finding) -> Json:
    return {
        "precision": _PRECISION.get(finding.confidence.split(":")[0].split(",")[0], "medium"),
        "confidence": safe(finding.confidence, _LIMIT),
        "fault": finding.fault.value,
        "cause": finding.cause,
        "evidence": [f"{safe(item.fact, _LIMIT)} ({safe(item.source, _LIMIT)})" for item in finding.evidence],
        "remedies": [
            {
                "action": safe(item.action, _LIMIT),
                "command": whole(item.command),
                "effect": safe(item.effect, _LIMIT),
                "tag": item.tag.value,
            }
            for item in finding.remedies
        ],
    }


def _notifications(rows: Sequence[Checked], index: dict[str, int]) -> Iterator[Json]:
    """Rules that could not look although they should have: a scan must not pass for a whole one."""
    for row in rows:
        for item in row.judgement.not_checked:
            if item.reason.startswith("needs "):
                continue
            text = f"{item.code} {item.name} was not checked: {safe(item.reason, _LIMIT)}"
            rule = {"id": item.code, "index": index[item.code]}
            yield {"level": "warning", "message": {"text": text}, "associatedRule": rule}
