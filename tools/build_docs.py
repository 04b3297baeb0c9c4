"""Writes the parts of the documentation that are made from the code.

    python tools/build_docs.py            write docs/reference and the README's numbers
    python tools/build_docs.py --check    only say what is out of date; exit 1 if anything is
    python tools/build_docs.py --record   run the commands first, and keep what they print (JSON, all pages)
    python tools/build_docs.py --record docs/index.md    in these pages only

Rule pages come from the rules' docstrings, the command line from its parser, Python from signatures and
docstrings, JSON documents from what commands really print and their schemas from classes, numbers from
benchmarks/results.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from docs_api import api_page
from docs_diagrams import diagrams
from docs_errors import error_pages
from docs_json import json_pages, record
from docs_numbers import numbers_page, readme_numbers
from docs_pages import PageRunner, pages
from docs_server import PageServer
from docs_tables import cli_page, device_page, rule_index

from outlive.cli.commands.help import man_page
from outlive.cli.main import build_parser
from outlive.rendering.pages.explain import rule_markdown
from outlive.rules.catalogue import load_rules

ROOT = Path(__file__).resolve().parent.parent
START = "<!-- numbers: made by tools/build_docs.py from benchmarks/results -->"
STOP = "<!-- end of numbers -->"


def build() -> dict[Path, str]:
    """Every generated file with its text."""
    reference = ROOT / "docs" / "reference"
    files = {reference / "rules" / f"{rule.code}.md": rule_markdown(rule) for rule in load_rules()}
    files[reference / "rules" / "index.md"] = rule_index()
    files[reference / "cli.md"] = cli_page()
    files[reference / "outlive.1"] = man_page(build_parser())
    files[reference / "python.md"] = api_page()
    files[reference / "devices.md"] = device_page()
    files[reference / "numbers.md"] = numbers_page()
    files.update(json_pages())
    files.update(error_pages())
    files.update(diagrams())
    files[ROOT / "README.md"] = _readme((ROOT / "README.md").read_text("utf-8"))
    return files


def _readme(text: str) -> str:
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(STOP)
    return f"{before}{START}\n{readme_numbers()}{STOP}{after}"


def record_pages(chosen: list[Path]) -> None:
    """Run the commands of pages, and write what they print into them."""
    server = PageServer()
    runner = PageRunner(server=server)
    for page in chosen:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder, "page")
            work.mkdir()
            text = runner.record(page, work)
        if text != page.read_text("utf-8"):
            page.write_text(text, "utf-8")
            print(f"wrote: {page.relative_to(ROOT)}")
    server.close()


def main() -> int:
    """Write or check the files."""
    parser = argparse.ArgumentParser(description="Write the documentation that is made from the code.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of date")
    what.add_argument(
        "--record",
        metavar="PAGE",
        nargs="*",
        help="run the commands of these pages (or of all) first",
    )
    args = parser.parse_args()
    if args.record == []:
        record()
    if args.record is not None:
        record_pages([Path(page).resolve() for page in args.record] or pages())
    built = build()
    stale = [path for path, text in built.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        print(f"{'out of date' if args.check else 'wrote'}: {path.relative_to(ROOT)}")
        if not args.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(built[path], "utf-8")
    return 1 if stale and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
