"""`outlive notebook`: have every kernel load outlive by itself, or no longer."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from outlive.atomic_files import write_whole
from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option
from outlive.cli.terminal import complain, write_plain
from outlive.names import safe

EXAMPLES = """\
Examples:
  outlive notebook status        is it installed, and where?
  outlive notebook install       load outlive in every kernel, without %load_ext
  outlive notebook uninstall     undo it

It writes one file into the startup folder of your IPython profile (IPYTHONDIR, or ~/.ipython). Kernels in
environments without outlive start as before.
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
    option(
        parser,
        "action",
        "install, uninstall or status",
        choices=("install", "uninstall", "status"),
        metavar="ACTION",
    )
    words = "the IPython profile (default: the profile named default)"
    option(parser, "--profile", words, default="default", action="store")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write or remove the file, and say where it is."""
    if not args.profile or os.sep in args.profile or args.profile.startswith("."):
        complain("outlive notebook: the profile must be a name, not a path")
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
    state = "new kernels load outlive" if there else "kernels do not load outlive"
    write_plain(args, safe(f"{state}: {path}{'' if there else ' does not exist'}") + "\n")
