"""Writes the parts of the documentation that are made from the code.

    python tools/build_docs.py            write docs/reference and the README's numbers
    python tools/build_docs.py --check    only say what is out of date; exit 1 if anything is

Rule pages come from the rules' docstrings, the command line from its parser, the README's numbers from
benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from outlive.cli.completion import subcommands
from outlive.cli.main import build_parser
from outlive.report.pages import rule_markdown
from outlive.rules.catalogue import RULES

ROOT = Path(__file__).resolve().parent.parent
START = "<!-- numbers: made by tools/build_docs.py from benchmarks/results -->"
STOP = "<!-- end of numbers -->"


def build() -> dict[Path, str]:
    """Every generated file with its text."""
    reference = ROOT / "docs" / "reference"
    files = {reference / "rules" / f"{rule.code}.md": rule_markdown(rule) for rule in RULES}
    files[reference / "rules" / "index.md"] = _rule_index()
    files[reference / "cli.md"] = _cli_page()
    files[ROOT / "README.md"] = _readme((ROOT / "README.md").read_text("utf-8"))
    return files


def _rule_index() -> str:
    lines = ["# Findings", "", "| code | severity | name | what it says |", "|---|---|---|---|"]
    lines += [
        f"| [{rule.code}]({rule.code}.md) | {rule.severity.value} | `{rule.name}` | {rule.summary} |"
        for rule in RULES
    ]
    return "\n".join(lines) + "\n"


def _cli_page() -> str:
    """Written from the parser's parts, because argparse lays out its help differently in each Python."""
    parser = build_parser()
    lines = [
        "# The command line",
        "",
        str(parser.description),
        "",
        "```text",
        str(parser.epilog).rstrip(),
        "```",
        "",
    ]
    lines += _arguments(parser)
    for name, command in subcommands(parser).items():
        lines += ["", f"## outlive {name}", "", str(command.description), "", *_arguments(command)]
        lines += ["", "```text", str(command.epilog).rstrip(), "```"]
    return "\n".join(lines) + "\n"


def _arguments(parser: argparse.ArgumentParser) -> list[str]:
    rows = ["| argument | what it does |", "|---|---|"]
    for action in parser._actions:
        if action.dest in ("command", "help"):
            continue
        name = ", ".join(action.option_strings) or str(action.metavar)
        value = "\\|".join(map(str, action.choices)) if action.choices else str(action.metavar or "")
        shown = f"{name} {value}" if action.option_strings and action.nargs != 0 else name
        rows.append(f"| `{shown}` | {action.help} |")
    return rows


def _readme(text: str) -> str:
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(STOP)
    return f"{before}{START}\n{_numbers()}{STOP}{after}"


def _numbers() -> str:
    results = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
    claims = [claim for path in results for claim in json.loads(path.read_text("utf-8")).get("claims", ())]
    if not claims:
        return ""
    rows = ""
    for claim in claims:
        bound = f"{'at least' if claim['at_least'] else 'at most'} {claim['bound']:g}"
        rows += f"| {claim['text']} | {claim['ratio']:.2f} | {bound} |\n"
    return f"\n| ratio, both sides measured in one run | measured | promised |\n|---|---|---|\n{rows}\n"


def main() -> int:
    """Write or check the files."""
    parser = argparse.ArgumentParser(description="Write the documentation that is made from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of date")
    args = parser.parse_args()
    stale = [path for path, text in build().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        print(f"{'out of date' if args.check else 'wrote'}: {path.relative_to(ROOT)}")
        if not args.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(build()[path], "utf-8")
    return 1 if stale and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
