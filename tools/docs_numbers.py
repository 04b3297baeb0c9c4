"""What the benchmarks measured: a line per benchmark for the README, every claim for the reference."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_RESULTS = ROOT / "benchmarks" / "results"
# A benchmark, and the sentence that its claims fill in.
_README = (
    (
        "isolation_overhead",
        "**{c0:.1f} µs** more for a call of a tiny model than LiteRT in your own process; "
        "`multiprocessing.Pipe` adds {pipe:.0f} µs.",
    ),
    ("isolation_overhead", "**{c9:.0f} ms** from a segmentation fault to the next result, in a new worker."),
    (
        "diagnosis_accuracy",
        "**{c0:.0%}** of 81 real crashes get the right cause and **{c1:.0%}** of 61 the right operator; "
        "LiteRT itself prints an operator in none.",
    ),
    (
        "tflm_accuracy",
        "**{c3:.0%}** of the corpus models have the exact smallest TensorFlow Lite Micro arena, compared "
        "with the real runtime on a Cortex-M.",
    ),
    (
        "quant_debugger_against_tensorflow",
        "**{c1:.1f} times** faster than TensorFlow's QuantizationDebugger on MobileNetV2, while your process "
        "grows by {c2:.0f} MB.",
    ),
)


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
    """Five numbers that a reader understands, each with what it compares with, and the claims that fail."""
    lines = [f"- {words.format(**_figures(name))}" for name, words in _README]
    claims = [claim for one in measured() for claim in one.claims]
    broken = sum(1 for claim in claims if not claim["holds"])
    if broken:
        link = "docs/reference/numbers.md#claims-that-do-not-hold"
        lines += ["", f"{broken} of {len(claims)} claims [do not hold at present]({link})."]
    return "\n" + "\n".join(lines) + "\n\n"


def _figures(name: str) -> dict[str, float]:
    """The claims of a benchmark as c0, c1, ...; and what a pipe adds to a call, where that was measured."""
    result = json.loads((_RESULTS / f"{name}.json").read_text("utf-8"))
    found = {f"c{place}": claim["ratio"] for place, claim in enumerate(result["claims"])}
    times = result.get("medians_us", {}).get("tiny", {})
    return found | {"pipe": times.get("multiprocessing.Pipe", 0) - times.get("direct", 0)}


def numbers_page() -> str:
    """Every claim of every benchmark."""
    lines = [
        "# Benchmarks",
        "",
        "Every claim of every benchmark, as it was last measured. Both sides of a ratio are measured in one",
        "run, on one machine. `make bench` measures again.",
        "",
        "## Claims that do not hold",
        "",
        *(_broken() or ["All claims hold."]),
    ]
    for one in measured():
        lines += ["", f"## {one.name.replace('_', ' ')}", "", f"{one.title}. Measured on {one.machine}.", ""]
        lines += ["| claim | measured | promised | holds |", "|---|---|---|---|"]
        lines += map(_row, one.claims)
    return "\n".join(lines) + "\n"


def _broken() -> list[str]:
    return [
        f"- {one.name.replace('_', ' ')}: {_said(claim)}"
        for one in measured()
        for claim in one.claims
        if not claim["holds"]
    ]


def _row(claim: dict[str, Any]) -> str:
    holds = "yes" if claim["holds"] else "**no**"
    return f"| {claim['text']} | {claim['ratio']:.2f} | {_bound(claim)} | {holds} |"


def _said(claim: dict[str, Any]) -> str:
    return f"{claim['text']}: {claim['ratio']:.2f} ({_bound(claim)})"


def _bound(claim: dict[str, Any]) -> str:
    return f"{'at least' if claim['at_least'] else 'at most'} {claim['bound']:g}"
