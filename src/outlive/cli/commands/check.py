"""`outlive check`: what is wrong with models, before anything runs."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.present import check_output, exit_code, present
from outlive.cli.terminal import complain, progress, refuse_to_overwrite, write_text
from outlive.rendering.pages.check import check_lines
from outlive.units import format_bytes, plural
from outlive.verbs.check import check
from outlive.verbs.checking import EXPECTATIONS, UnreadableConfig
from outlive.verbs.choices import ACCELERATORS

EXAMPLES = """\
Examples:
  outlive check healthy.tflite                           check one model
  outlive check .                                        check every model in this folder
  outlive check healthy.tflite --device raspberry-pi-pico   does it fit, too?
  outlive check healthy_int8.tflite --expect int8        is it quantized?
  outlive check . --select F,Q --ignore odd-scale        choose rules
  outlive check . --write-baseline known.json            accept all findings of today
  outlive check . --baseline known.json                  report new findings only
  outlive check wasteful.tflite --fix                    remove waste; the old file is kept
  outlive check --changed=origin/main                    check the models that this branch changes
  outlive check . --format sarif -o outlive.sarif        for GitHub code scanning
  outlive check . --format github                        annotations in a GitHub workflow
  outlive check . --also junit=report.xml --also gitlab=quality.json

Defaults come from [tool.outlive] in pyproject.toml, or from outlive.toml: see `outlive help configuration`.

Exit codes: 0 no error, 1 findings of severity error (with --strict also warnings), 2 usage, 4 the only
problem is that a model does not fit
"""
_FORMATS = ("html", "sarif", "github", "gitlab", "junit", "markdown")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "files", "models, folders or patterns (default: this folder)", nargs="*", metavar="FILE")
    words = "check the models that differ from REV in git (default HEAD), among FILEs if any are given"
    option(parser, "--changed", words, nargs="?", const="HEAD", metavar="REV")
    words = "check files in folders even if .gitignore or .outliveignore names them"
    option(parser, "--no-ignore-files", words, dest="ignore_files", action="store_false")
    words = "leave out excluded and ignored files even if you name them as FILE"
    option(parser, "--force-exclude", words)
    words = "check these input values too: an .npz file, or a .npy file for one input (repeatable)"
    option(parser, "--inputs", words, several=True, default=None, metavar="[NAME=]FILE")
    words = (
        "check that the model is quantized: activations (int8, int16), also inputs and outputs (-io), "
        "or weights only (dynamic, float16)"
    )
    option(parser, "--expect", words, choices=tuple(EXPECTATIONS))
    rules = parser.add_argument_group("Rules")
    words = "use only these rules: codes, prefixes of codes or names (repeatable)"
    option(rules, "--select", words, several=True, default=None, metavar="CODES")
    option(
        rules, "--ignore", "leave out these rules (repeatable)", several=True, default=None, metavar="CODES"
    )
    option(rules, "--baseline", "leave out the known findings in FILE", metavar="FILE")
    words = "write all findings to FILE, as known, and end with exit code 0"
    option(rules, "--write-baseline", words, metavar="FILE")
    words = "remove waste from the files; results stay the same, and FILE.orig keeps the old file"
    option(rules, "--fix", words)
    option(rules, "--strict", "end with exit code 1 for warnings too", action="store_true", default=None)
    words = "ignore pyproject.toml and outlive.toml"
    option(rules, "--no-config", words, dest="config", action="store_false")
    fit = parser.add_argument_group("Memory budget")
    one = fit.add_mutually_exclusive_group()
    option(one, "--ram")
    words = "the memory of a device: a name, or a .toml file (repeatable)"
    option(one, "--device", words, several=True, default=None)
    option(one, "--here", "this machine: its memory, its limits and its packages")
    option(fit, "--accelerator", "the kernels to plan for (default cpu)", choices=ACCELERATORS, default=None)
    group = add_output_options(parser, *_FORMATS)
    words = "also write another format to a file (repeatable)"
    option(group, "--also", words, several=True, metavar="FORMAT=FILE")


def run(args: argparse.Namespace) -> int:
    """Check the files and say what was found; the exit code says how bad it is."""
    check_output(args, beside=(args.write_baseline,))
    try:
        outputs = [(args.format, args.output), *map(_also, args.also)]
        with progress(args, "checking") as tell:
            found = check(args.files, **options_for(check, args), tell=tell)
    except (ValueError, OSError) as error:
        hint = " (--no-config leaves it out)" if isinstance(error, UnreadableConfig) else ""
        complain(f"outlive check: {error}{hint}")
        return exits.USAGE
    for change in found.fixed:
        sizes = f"{format_bytes(change.old_bytes)} to {format_bytes(change.new_bytes)}"
        complain(f"fixed {change.path}: {', '.join(change.codes)}, {sizes}; the old file is {change.backup}")
    if args.write_baseline:
        complain(f"wrote {plural(found.known, 'finding')} to {args.write_baseline}")
    for name, output in outputs:
        refuse_to_overwrite([file.reading.path or "" for file in found.files], output)
        args.format, args.output = name, output
        if name == "text" and len(found.files) > 1 and not (args.verbose or args.quiet):
            write_text(args, check_lines(found, args.fix))
        else:
            present(args, found)
    return exit_code(found)


def _also(word: str) -> tuple[str, str]:
    name, _, output = word.partition("=")
    known = ("text", "json", *_FORMATS)
    if name not in known or not output:
        raise ValueError(f"--also {word}: write FORMAT=FILE, where FORMAT is one of {', '.join(known)}")
    return name, output
