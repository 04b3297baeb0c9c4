"""`outlive fit`: tries what would make a model fit, and shows what each costs."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from outlive.cli import exits
from outlive.cli.arguments import KERNELS_OF_CPU, add_telling_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_model_output, tell
from outlive.cli.signals import ended_like_ctrl_c
from outlive.cli.terminal import OutputError, refuse_to_overwrite, writing
from outlive.rendering.picture import check_plot, plot
from outlive.verbs.fit import JSON_NAME, SNIPPET_NAME, fit, save_fit, save_targets

EXAMPLES = """\
the order, cheapest for you first; the first round in which something fits that loses at most --max-loss
(or 5%, if none is given) is the last, unless --all:
  1. settings (XNNPACK, its weight cache, builtin kernels), waste removed     same results, but for rounding
  2. a smaller batch                                                          the same in smaller portions
  3. smaller numbers: fp16, weight-only-int8, static-int16x8, dynamic-int8,   another model
     static-int8, weight-only-int4, static-int8 with its worst layers float
  4. smaller pictures                                                         other results
  5. smaller pictures in smaller numbers
a candidate fits if it ran in a worker limited to the budget; of those that do, the least loss wins,
and among equals one that no other beats in memory, file and time
a metric by which the original scores less than 0 or more than 1 has losses in its own units: there --max-loss
and the 5% are a part of the original's score
examples:
  outlive fit float.tflite --ram 8MB --samples photos/ -o small.tflite
  outlive fit float.tflite --ram 8MB --flash 1MB --samples a.npz --max-loss 1% -o small.tflite
  outlive fit float.tflite --ram 8MB --metric accuracy.py:accuracy -o small.tflite
  outlive fit float.tflite --device raspberry-pi-pico --samples a.npz -o firmware/
  outlive fit float.tflite --ram 64MB --batch 32 --all --plot front.svg
  outlive fit model.keras --ram 8MB -o small.tflite          converted first, by TensorFlow in a worker
exit codes: 0 something fits, 1 the model or the samples are refused, 2 usage, 3 the model died,
4 nothing fits, 130 interrupted or asked to end (what was known by then is shown and written)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "model", "a .tflite, .keras or .h5 file, or a SavedModel folder", metavar="MODEL")
    words = f"where the chosen model goes, a file or a folder; {JSON_NAME} and {SNIPPET_NAME} beside it"
    option(parser, "-o", "--output", words, metavar="OUT")
    memory = parser.add_argument_group("the memory there is").add_mutually_exclusive_group(required=True)
    option(memory, "--ram", "memory granted to the model, such as 8MB")
    option(memory, "--device")
    option(parser, "--flash", "what the file may have, such as 1MB", metavar="SIZE")
    loss = parser.add_argument_group("what it may cost")
    option(loss, "--samples")
    words = "a function of predict, or of outputs and samples; more is better (default: like the original)"
    option(loss, "--metric", words, metavar="FILE.py:NAME")
    option(loss, "--max-loss", "the most it may lose, such as 1%%", metavar="SHARE")
    start = parser.add_argument_group("where to start")
    option(start, "--batch")
    option(start, "--input", "another shape of an input", several=True, dest="inputs", metavar="NAME=SHAPE")
    words = "only this one (default: XNNPACK and the builtin kernels; tflm on microcontrollers)"
    option(start, "--accelerator", words, choices=(*KERNELS_OF_CPU, "tflm"), default=None)
    option(start, "--threads")
    how = parser.add_argument_group("the search")
    option(how, "--all", "try and show every candidate")
    option(how, "--seconds")
    option(how, "--jobs", "candidates side by side (default: half the cores)", metavar="N")
    words = "find out anew what was found out before"
    option(how, "--no-cache", words, dest="cache", action="store_false")
    option(parser, "--plot", "draw memory against loss as .svg or .png", metavar="FILE")
    add_telling_options(parser)


def run(args: argparse.Namespace) -> int:
    """Search, write and report; the exit code says whether something fits."""
    with asking(args, "fitting") as hear, ended_like_ctrl_c():
        _check(args)
        found = fit(args.model, **options_for(fit, args), tell=hear)
    try:
        if args.output is not None:
            with writing(args.output):
                found = save_fit(found, args.output)
    finally:  # what took so long to find out is not lost with the disk
        if args.plot:
            with writing(args.plot):
                plot(found, args.plot)
        code = tell(args, found)
    return exits.INTERRUPTED if found.stopped == "interrupted" else code


def _check(args: argparse.Namespace) -> None:
    """Check the options before anything is tried."""
    check_model_output(args)
    if args.plot:
        check_plot(args.plot)
        refuse_to_overwrite([args.model], args.plot)
    if args.output is not None:
        targets = save_targets(args.output)
        refuse_to_overwrite([args.model], *map(str, targets))
        _check_folder(targets[0])


def _check_folder(model: Path) -> None:
    """`OutputError`, before the search, if nothing can be written there."""
    if model.is_dir():
        raise OutputError(f"cannot write {model}: it is a folder")
    folder = model.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise OutputError(f"cannot write {model}: {folder} is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write {model}: {folder} is not yours to write to")
