"""Tables of the reference that are made from the package: the devices, the rules, the command line."""

from __future__ import annotations

import argparse
import html
import re
from pathlib import Path

from outlive.arena.devices import Device, read_device
from outlive.cli.main import build_parser, subcommands
from outlive.rules.catalogue import load_rules
from outlive.units import format_bytes

_DEVICES = Path(__file__).resolve().parent.parent / "src" / "outlive" / "device_data"
_KINDS = (
    ("microcontroller", "Microcontrollers", "Smallest arena against RAM, file against flash."),
    ("board", "Boards", "LiteRT: the peak of private memory against RAM."),
    ("phone", "Phones", "LiteRT: the peak of private memory against RAM."),
)  # fmt: skip


def device_page() -> str:
    """The devices that ship with outlive, with the documents their figures are from."""
    lines = [
        "# Devices",
        "",
        "`outlive plan MODEL --device NAME` holds a plan against one of these. The figures are those of the",
        "documents named; what an operating system takes of them is not guessed. A device of your own is a",
        "file: see",
        "[does it fit?](../how-to/plan_memory.md#on-a-device).",
    ]
    devices = [read_device(path) for path in sorted(_DEVICES.glob("*.toml"))]
    for kind, title, said in _KINDS:
        lines += ["", f"## {title}", "", said, ""]
        lines += ["| name | device | RAM | flash | document |", "|---|---|---|---|---|"]
        lines += [_device(device) for device in devices if device.kind == kind]
    return "\n".join(lines) + "\n"


def _device(device: Device) -> str:
    names = ", ".join(f"`{name}`" for name in (device.name, *device.aliases))
    flash = format_bytes(device.flash_bytes) if device.flash_bytes else ""
    return f"| {names} | {device.title} | {format_bytes(device.ram_bytes)} | {flash} | {device.document} |"


def rule_index() -> str:
    """All rules, one row each."""
    lines = ["# Findings", "", "| code | severity | name | what it says |", "|---|---|---|---|"]
    lines += [
        f"| [{rule.code}]({rule.code}.md) | {rule.severity.value} | `{rule.name}` | {rule.summary} |"
        for rule in load_rules()
    ]
    return "\n".join(lines) + "\n"


def cli_page() -> str:
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


def cell_code(text: str) -> str:
    r"""Code in a cell of a table: `|` ends the cell on some sites, and `\|` shows its backslash on others."""
    if "|" not in text:
        return f"`{text}`"
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>"


def cell_text(text: str) -> str:
    """A sentence in a cell of a table, code spans in it included."""
    spans = re.split(r"`([^`]*)`", " ".join(text.split()))
    return "".join(cell_code(s) if place % 2 else s.replace("|", "&#124;") for place, s in enumerate(spans))


def _arguments(parser: argparse.ArgumentParser) -> list[str]:
    rows = ["| argument | what it does |", "|---|---|"]
    for action in parser._actions:
        if action.dest in ("command", "help") or action.help == argparse.SUPPRESS:
            continue
        name = ", ".join(action.option_strings) or str(action.metavar)
        value = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or "")
        shown = f"{name} {value}" if action.option_strings and action.nargs != 0 else name
        rows.append(f"| {cell_code(shown)} | {cell_text(str(action.help).replace('%%', '%'))} |")
    return rows
