"""What the benchmarks measured: a line per benchmark for the README, every claim for the reference."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One benchmark: what its first line says it is about, and its claims as they were measured."""

    name: str
    title: str
    machine: str
    claims: tuple[dict[str, Any], ...]

    @property
    def held(self) -> int:
        """How many of the claims hold."""
        return sum(1 for claim in self.claims if claim["holds"])


def measured() -> tuple[Measured, ...]:
    """Every benchmark that has left results."""
    found = []
    for path in sorted(_RESULTS.glob("*.json")):
        result = json.loads(path.read_text("utf-8"))
        claims = tuple(result.get("claims", ()))
        if claims:
            words = [str(result.get("machine", "")), f"Python {result.get('python', '')}"]
            title = _title(path.stem)
            found.append(Measured(name=path.stem, title=title, machine=", ".join(words), claims=claims))
    return tuple(found)


def _title(stem: str) -> str:
    source = ROOT / "benchmarks" / f"{stem}.py"
    said = ast.get_docstring(ast.parse(source.read_text("utf-8"))) if source.exists() else None
    return said.splitlines()[0].partition(": `python")[0].rstrip(".") if said else stem.replace("_", " ")


def readme_numbers() -> str:
    """A row per benchmark, and below it every promise that is not kept at present."""
    rows = [
        f"| {one.title} | {_said(one.claims[0])} | {one.held} of {len(one.claims)} |" for one in measured()
    ]
    if not rows:
        return ""
    broken = [
        f"{one.name.replace('_', ' ')}, {_said(claim)}"
        for one in measured()
        for claim in one.claims
        if not claim["holds"]
    ]
    text = "| measured | for example | claims that hold |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    if broken:
        text += "\nNot kept at present: " + "; ".join(broken) + ".\n"
    return f"\n{text}\n"


def numbers_page() -> str:
    """Every claim of every benchmark."""
    lines = [
        "# Numbers",
        "",
        "Every claim of every benchmark, as it was last measured. Both sides of a ratio are measured in one",
        "run, on one machine. `make bench` measures again and writes `benchmarks/results`, from which this",
        "page is made.",
    ]
    for one in measured():
        lines += ["", f"## {one.name.replace('_', ' ')}", "", f"{one.title}. Measured on {one.machine}.", ""]
        lines += ["| claim | measured | promised | holds |", "|---|---|---|---|"]
        lines += map(_row, one.claims)
    return "\n".join(lines) + "\n"


def _row(claim: dict[str, Any]) -> str:
    holds = "yes" if claim["holds"] else "**no**"
    return f"| {claim['text']} | {claim['ratio']:.2f} | {_bound(claim)} | {holds} |"


def _said(claim: dict[str, Any]) -> str:
    return f"{claim['text']}: {claim['ratio']:.2f} ({_bound(claim)})"


def _bound(claim: dict[str, Any]) -> str:
    return f"{'at least' if claim['at_least'] else 'at most'} {claim['bound']:g}"
