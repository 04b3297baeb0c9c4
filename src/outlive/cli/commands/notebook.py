"""`outlive notebook`: have every kernel load outlive by itself, or no longer."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from outlive.atomic_files import write_whole
from outlive.cli import exits
from outlive.cli.arguments import FORMATS, option
from outlive.cli.terminal import complain, write_plain
from outlive.names import safe

EXAMPLES = """\
examples:
  outlive notebook install       cards, %%outlive and the black box in every kernel, without %load_ext
  outlive notebook uninstall     as before
  outlive notebook status        whether it is installed, and where
It is one file in the startup folder of your IPython profile (IPYTHONDIR, or ~/.ipython). Kernels that have no
outlive in their environment start as ever.
"""
_FILE = "50-outlive.py"
_LINES = """\
# Made by `outlive notebook install`; `outlive notebook uninstall` removes it.
try:
    get_ipython().extension_manager.load_extension("outlive")
except ImportError:  # this environment has no outlive
    pass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupFile:
    """The file that loads outlive in new kernels, and whether it is there."""

    kind: ClassVar[str] = "notebook"

    installed: bool
    path: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "action", "what to do", choices=("install", "uninstall", "status"))
    words = "the IPython profile (default: default)"
    option(parser, "--profile", words, default="default", action="store")
    output = parser.add_argument_group("output")
    words = f"{FORMATS['text']}, {FORMATS['json']}"
    option(output, "--format", words, choices=("text", "json"), default="text")
    option(output, "--output", "write to FILE instead of standard output", metavar="FILE")


def run(args: argparse.Namespace) -> int:
    """Write or remove the file, and say where it is."""
    if not args.profile or os.sep in args.profile or args.profile.startswith("."):
        complain("outlive notebook: a profile is a name, not a path")
        return exits.USAGE
    path = startup_file(args.profile)
    try:
        if args.action == "install":
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, _LINES)
        elif args.action == "uninstall":
            path.unlink(missing_ok=True)
    except OSError as error:
        complain(f"outlive notebook: cannot change {path}: {error.strerror}")
        return exits.USAGE
    _tell(args, path)
    return exits.CLEAN


def startup_file(profile: str) -> Path:
    """The file in the startup folder of an IPython profile."""
    home = os.environ.get("IPYTHONDIR") or os.path.join("~", ".ipython")
    return Path(home).expanduser() / f"profile_{profile}" / "startup" / _FILE


def _tell(args: argparse.Namespace, path: Path) -> None:
    there = path.exists()
    if args.format == "json":
        from outlive.rendering.media.json import document_of, dump

        document = document_of(StartupFile(installed=there, path=str(path)))
        write_plain(args, dump(document) + "\n")
        return
    state = "new kernels load outlive by themselves" if there else "kernels do not load outlive by themselves"
    write_plain(args, safe(f"{state}: {path}{'' if there else ' is not there'}") + "\n")
