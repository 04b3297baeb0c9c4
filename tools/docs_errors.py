"""The pages about error messages: each message is a heading, with what `outlive autopsy` answers."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

import outlive
from outlive.rules.catalogue import load_rules

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "errors"
MESSAGES = Path(__file__).resolve().parent / "docs_errors.toml"
# Commands in the middle of a sentence.
_COMMAND = re.compile(
    r"outlive (?:read|plan|check|run|diagnose|delegates|doctor|devices|quantize|cut|guard|autopsy|blackbox"
    r"|notebook)"
    r"(?: (?:[A-Z]{3,}(?:=[A-Z]+)?|--?[a-z][a-z-]*(?: (?:[a-z0-9_.-]+|[A-Z=]+))?|[a-z_]+\.[a-z]+))*"
    r"|python -m pip install(?: --?[\w-]+)* '?[\w<>=.\[\]-]+'?"
    r"|(?:docker|kubectl|git lfs|dmesg|df|ldd|ulimit) [^;,()]+?(?=[;,(]|$)"
)
_MARKUP = re.compile(r"([\\`*_\[\]{}#])")


def error_pages() -> dict[Path, str]:
    """A page for each group of messages, and the page that lists all of them."""
    groups = error_groups()
    pages = {FOLDER / f"{group['file']}.md": _page(group) for group in groups}
    pages[FOLDER / "index.md"] = _index(groups)
    return pages


def error_groups() -> list[dict[str, Any]]:
    """The messages, in groups with `file`, `title`, `about`, `command` and `messages`."""
    groups: list[dict[str, Any]] = tomllib.loads(MESSAGES.read_text("utf-8"))["group"]
    return groups


def _index(groups: list[dict[str, Any]]) -> str:
    count = sum(len(group["messages"]) for group in groups)
    lines = [
        "# Error messages",
        "",
        f"{count} common messages of TensorFlow Lite, LiteRT and their tools: what each one means and how to",
        "fix it. Your message is not here, or you have a whole log? Give it to",
        "`outlive autopsy`, which knows several hundred messages:",
        "",
        "<!-- output: none -->",
        "```console",
        '$ echo "Encountered unresolved custom op: TFLite_Detection_PostProcess." > crash.log',
        "$ outlive autopsy crash.log",
        "```",
    ]
    for group in groups:
        lines += ["", f"## [{group['title']}]({group['file']}.md)", ""]
        lines += [f"- [{escape(text)}]({group['file']}.md#{anchor(text)})" for text in group["messages"]]
    return "\n".join(lines) + "\n"


def _page(group: dict[str, Any]) -> str:
    lines = [f"# {group['title']}", "", group["about"]]
    for text in group["messages"]:
        lines += ["", *_section(text, group["command"])]
    return "\n".join(lines) + "\n"


def _section(text: str, command: str) -> list[str]:
    found = outlive.autopsy(text)
    assert found.meaning, f"autopsy knows nothing of {text!r}"
    lines = [f"## {escape(text)}", "", f"**Cause.** {_sentence(found.meaning)}", ""]
    lines += ["**Fix.**", "", *(f"- {_sentence(one)}" for one in found.do)]
    asked = (match[0].strip() for one in found.do for match in _COMMAND.finditer(one))
    best = next((words for words in asked if words.startswith("outlive ")), command)
    lines += ["", f"**With outlive.** `{best.replace('FILE', 'model.tflite')}`"]
    if found.code:
        summary = {rule.code: rule.summary for rule in load_rules()}[found.code]
        lines += ["", f"Finding [{found.code}](../reference/rules/{found.code}.md): {escape(summary)}."]
    return lines


def _sentence(text: str) -> str:
    """Words of a message as a sentence, commands in it as code."""
    text = " ".join(text.split())
    parts, place = [], 0
    for match in _COMMAND.finditer(text):
        parts += [escape(text[place : match.start()]), f"`{match[0].strip()}`"]
        place = match.end()
    parts.append(escape(text[place:]))
    said = "".join(parts)
    return said[:1].upper() + said[1:] + ("" if said.endswith((".", "`")) else ".")


def escape(text: str) -> str:
    """A text as Markdown shows it, character for character."""
    return _MARKUP.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))


def anchor(text: str) -> str:
    """The place of a heading on its page, as the site names it."""
    kept = re.sub(r"[^\w\s-]", "", text).strip().lower()
    return re.sub(r"[-\s]+", "-", kept)
