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
Examples:
  outlive fit healthy.tflite --ram 400KB                     what fits, and what does it cost?
  outlive fit healthy.tflite --ram 400KB --samples images/ -o small.tflite
  outlive fit float.tflite --ram 8MB --flash 1MB --samples a.npz --max-loss 1% -o small.tflite
  outlive fit float.tflite --ram 8MB --metric accuracy.py:accuracy -o small.tflite
  outlive fit float.tflite --device raspberry-pi-pico --samples a.npz -o firmware/
  outlive fit float.tflite --ram 64MB --batch 32 --all --plot front.svg
  outlive fit model.keras --ram 8MB -o small.tflite          TensorFlow converts it first, in a worker

The search tries the cheapest changes first, and stops after the round in which a candidate fits and loses at
most --max-loss (default 5%). --all tries everything.
  1. settings (XNNPACK, its weight cache, builtin kernels), no waste   same results, except rounding
  2. a smaller batch                                                   same results, in smaller portions
  3. quantization: fp16, weight-only-int8, static-int16x8,             other results
     dynamic-int8, static-int8, weight-only-int4, and static-int8
     with its worst layers in float
  4. smaller images                                                    other results
  5. smaller images and quantization                                   other results

A candidate fits if it runs in a worker that is limited to the budget. The least loss wins; among equals, the
one that no other beats in memory, file size and time. If the metric gives the original a score below 0 or
above 1, losses are in units of the metric, and --max-loss is a share of that score.

Exit codes: 0 something fits, 1 the model or the samples are refused, 2 usage, 3 the model died, 4 nothing
fits, 130 interrupted (the result so far is shown and written)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "model", "a .tflite, .keras or .h5 file, or a SavedModel folder", metavar="MODEL")
    words = f"write the chosen model to this file or folder, with {JSON_NAME} and {SNIPPET_NAME} beside it"
    option(parser, "-o", "--output", words, metavar="OUT")
    memory = parser.add_argument_group("Memory budget").add_mutually_exclusive_group(required=True)
    option(memory, "--ram", "the memory that you grant the model, such as 8MB")
    option(memory, "--device")
    option(parser, "--flash", "the largest file, such as 1MB", metavar="SIZE")
    loss = parser.add_argument_group("Accuracy")
    option(loss, "--samples")
    words = (
        "a function of predict, or of outputs and samples; higher is better (default: agreement with the "
        "original)"
    )
    option(loss, "--metric", words, metavar="FILE.py:NAME")
    option(loss, "--max-loss", "the largest loss, such as 1%%", metavar="SHARE")
    start = parser.add_argument_group("Starting point")
    option(start, "--batch")
    option(
        start,
        "--input",
        "set the shape of an input (repeatable)",
        several=True,
        dest="inputs",
        metavar="NAME=SHAPE",
    )
    words = "use only these kernels (default: XNNPACK and builtin; tflm on microcontrollers)"
    option(start, "--accelerator", words, choices=(*KERNELS_OF_CPU, "tflm"), default=None)
    option(start, "--threads")
    how = parser.add_argument_group("Search")
    option(how, "--all", "try and show every candidate")
    option(how, "--seconds")
    option(how, "--jobs", "candidates to run at the same time (default: half the cores)", metavar="N")
    words = "use no earlier results"
    option(how, "--no-cache", words, dest="cache", action="store_false")
    option(parser, "--plot", "draw memory against loss as .svg or .png", metavar="FILE")
    add_telling_options(parser, "html")


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
        raise OutputError(f"cannot write {model}: {folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write {model}: you have no permission to write to {folder}")
