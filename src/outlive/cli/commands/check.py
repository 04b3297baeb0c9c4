"""`outlive check`: what is wrong with models, before anything runs."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.present import check_output, exit_code, present
from outlive.cli.terminal import complain, progress, refuse_to_overwrite
from outlive.verbs.check import check
from outlive.verbs.checking import EXPECTATIONS, UnreadableConfig
from outlive.verbs.choices import ACCELERATORS

EXAMPLES = """\
examples:
  outlive check model.tflite                             everything the file shows
  outlive check model.tflite --device raspberry-pi-pico  and whether it fits
  outlive check model.tflite --inputs samples.npz        and whether these values are right for it
  outlive check model.tflite --expect int8               and whether it was quantized as it was to be
  outlive check models/ --select F,Q --ignore zero-scale   every model below a folder
  outlive check --changed                                models that git has not committed yet
  outlive check --changed=origin/main                    models that this branch changes
  outlive check model.tflite --format sarif --output outlive.sarif
  outlive check model.tflite --format github             annotations in a GitHub workflow
  outlive check *.tflite --also junit=report.xml --also gitlab=quality.json
Defaults are read from [tool.outlive] in the nearest pyproject.toml, or from outlive.toml.
exit codes: 0 no error, 1 findings of severity error (with --strict also warnings), 2 usage,
4 the one thing wrong is that it does not fit
"""
_FORMATS = ("html", "sarif", "github", "gitlab", "junit", "markdown")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "files", "a .tflite model, or a folder or pattern of them", nargs="*", metavar="FILE")
    words = "models that git says have changed since REV (default HEAD); FILEs and folders narrow it down"
    option(parser, "--changed", words, nargs="?", const="HEAD", metavar="REV")
    words = "leave out what the configuration excludes even where it is named as a FILE"
    option(parser, "--force-exclude", words)
    words = "values the model would be given: an .npz file, or a .npy file for an input"
    option(parser, "--inputs", words, several=True, default=None, metavar="[NAME=]FILE")
    words = (
        "what the model was to be quantized to: values (int8, int16), also inputs and outputs (-io), "
        "or weights only (dynamic, float16)"
    )
    option(parser, "--expect", words, choices=tuple(EXPECTATIONS))
    rules = parser.add_argument_group("rules")
    words = "only these: codes, starts of codes, names"
    option(rules, "--select", words, several=True, default=None, metavar="CODES")
    option(rules, "--ignore", "all but these", several=True, default=None, metavar="CODES")
    option(rules, "--strict", "warnings end with exit code 1 as well", action="store_true", default=None)
    words = "read no pyproject.toml and no outlive.toml"
    option(rules, "--no-config", words, dest="config", action="store_false")
    fit = parser.add_argument_group("does it fit?")
    one = fit.add_mutually_exclusive_group()
    option(one, "--ram")
    words = "a device by name, or a .toml file that describes one (may be given several times)"
    option(one, "--device", words, several=True, default=None)
    option(one, "--here", "this machine: its memory and limits, and what is installed on it")
    option(fit, "--accelerator", "what it will run on (default cpu)", choices=ACCELERATORS, default=None)
    group = add_output_options(parser, *_FORMATS)
    words = "write another format to a file as well (may be given several times)"
    option(group, "--also", words, several=True, metavar="FORMAT=FILE")


def run(args: argparse.Namespace) -> int:
    """Check the files and say what was found; the exit code says how bad it is."""
    check_output(args)
    try:
        outputs = [(args.format, args.output), *map(_also, args.also)]
        with progress("checking") as tell:
            found = check(args.files, **options_for(check, args), tell=tell)
    except (ValueError, OSError) as error:
        hint = " (--no-config leaves it out)" if isinstance(error, UnreadableConfig) else ""
        complain(f"outlive check: {error}{hint}")
        return exits.USAGE
    for name, output in outputs:
        refuse_to_overwrite([file.reading.path or "" for file in found.files], output)
        args.format, args.output = name, output
        present(args, found)
    return exit_code(found)


def _also(word: str) -> tuple[str, str]:
    name, _, output = word.partition("=")
    known = ("text", "json", *_FORMATS)
    if name not in known or not output:
        raise ValueError(f"--also {word}: write FORMAT=FILE, where FORMAT is one of {', '.join(known)}")
    return name, output
