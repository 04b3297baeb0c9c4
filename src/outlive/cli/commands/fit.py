"""`outlive fit`: tries what would make a model fit, and shows what each costs."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

from outlive import verbs
from outlive.arena.questions import parse_input
from outlive.cli import exits
from outlive.cli.failures import tell_failure
from outlive.cli.output import OutputError, progress, refuse_to_overwrite, write_json, write_text, writing
from outlive.cli.pages import show_fit
from outlive.cli.signals import ended_like_ctrl_c
from outlive.errors import OutliveError
from outlive.fitting.nouns import Fit
from outlive.keeping import write_whole

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
_JSON_NAME, _SNIPPET_NAME, _MODEL_NAME = "fit.json", "load.py", "model.tflite"


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument(
        "model", metavar="MODEL", help="a .tflite, .keras or .h5 file, or a SavedModel folder"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help=f"where the chosen model goes, a file or a folder; {_JSON_NAME} and {_SNIPPET_NAME} beside it",
    )
    memory = parser.add_argument_group("the memory there is").add_mutually_exclusive_group(required=True)
    memory.add_argument("--ram", metavar="SIZE", help="memory granted to the model, such as 8MB")
    memory.add_argument(
        "--device", metavar="NAME", help="a device by name, or a .toml file that describes one"
    )
    parser.add_argument("--flash", metavar="SIZE", help="what the file may have, such as 1MB")
    loss = parser.add_argument_group("what it may cost")
    loss.add_argument(
        "--samples", metavar="WHERE", help="an .npz or .npy file, or a folder of .npy, .npz and picture files"
    )
    loss.add_argument(
        "--metric",
        metavar="FILE.py:NAME",
        help="a function of predict, or of outputs and samples; more is better (default: like the original)",
    )
    loss.add_argument("--max-loss", metavar="SHARE", help="the most it may lose, such as 1%%")
    start = parser.add_argument_group("where to start")
    start.add_argument("--batch", type=int, metavar="N", help="another first dimension of every input")
    start.add_argument(
        "--input", action="append", default=[], metavar="NAME=SHAPE", help="another shape of an input"
    )
    start.add_argument(
        "--accelerator",
        choices=("cpu", "builtin", "reference", "tflm"),
        help="only this one (default: XNNPACK and the builtin kernels; tflm on microcontrollers)",
    )
    start.add_argument("--threads", type=int, metavar="N", help="threads the model may use")
    how = parser.add_argument_group("the search")
    how.add_argument("--all", action="store_true", help="try and show every candidate")
    how.add_argument("--seconds", type=float, metavar="S", help="how long it may take")
    how.add_argument(
        "--jobs", type=int, metavar="N", help="candidates side by side (default: half the cores)"
    )
    how.add_argument("--no-cache", action="store_true", help="find out anew what was found out before")
    parser.add_argument("--plot", metavar="FILE", help="draw memory against loss as .svg or .png")
    parser.add_argument(
        "--format",
        choices=("text", "json", "html"),
        default="text",
        help="how to tell what was found (default text); html goes to standard output: > page.html",
    )


def run(args: argparse.Namespace) -> int:
    """Search, write and report; the exit code says whether something fits."""
    try:
        _check(args)
        with ended_like_ctrl_c():
            fit = _search(args)
    except (OutliveError, ValueError, OSError) as error:
        return tell_failure(args, error)
    try:
        written = _write(fit, args.output) if args.output is not None else ()
    except OutputError:
        _report(args, fit, ())  # what took so long to find out is not lost with the disk
        raise
    _report(args, fit, written)
    if fit.stopped == "interrupted":
        return exits.INTERRUPTED
    if fit.refusal:
        died = any(row.verdict == "died" for row in fit.candidates)
        return exits.DIED if died else exits.FINDINGS
    return exits.CLEAN if fit.chosen is not None else exits.DOES_NOT_FIT


def _check(args: argparse.Namespace) -> None:
    """What is wrong with the options is told before anything is tried."""
    if args.format == "html" and sys.stdout.isatty():
        raise OutputError("a page is to be opened in a browser: send it to a file, > page.html")
    if args.plot:
        from outlive.rendering.plan_plot import check_plot

        check_plot(args.plot)
        refuse_to_overwrite(args.plot, [args.model])
    if args.output is not None:
        model, document, snippet = _targets(args.output)
        for path in (model, document, snippet):
            refuse_to_overwrite(str(path), [args.model])
        _refuse_strangers(document, snippet)
        _check_folder(model)


def _search(args: argparse.Namespace) -> Fit:
    with progress("fitting") as tell:
        return verbs.fit(
            args.model,
            ram=args.ram,
            device=args.device,
            flash=args.flash,
            samples=args.samples,
            metric=args.metric,
            tolerance=args.max_loss,
            batch=args.batch,
            inputs=dict(parse_input(word) for word in args.input),
            accelerator=args.accelerator,
            threads=args.threads,
            every=args.all,
            seconds=args.seconds,
            jobs=args.jobs,
            cache=not args.no_cache,
            tell=tell,
        )


def _targets(output: str) -> tuple[Path, Path, Path]:
    """Where the model, the document and the Python file go."""
    path = Path(output)
    is_folder = path.is_dir() or output.endswith("/") or not path.suffix
    folder = path if is_folder else path.parent
    return (path / _MODEL_NAME if is_folder else path), folder / _JSON_NAME, folder / _SNIPPET_NAME


def _refuse_strangers(document: Path, snippet: Path) -> None:
    """`OutputError` if a fit.json or a load.py is there that is none of ours."""
    from outlive.fitting.loading import is_ours

    if document.exists() and not _is_a_search(document):
        stranger = document
    elif snippet.exists() and not is_ours(snippet):
        stranger = snippet
    else:
        return
    raise OutputError(f"{stranger} is there already, and no search wrote it: name another place with -o")


def _is_a_search(path: Path) -> bool:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("kind") == "fit"


def _check_folder(model: Path) -> None:
    """`OutputError` if nothing can be written there: that is told before the search, and not after it."""
    if model.is_dir():
        raise OutputError(f"cannot write {model}: it is a folder")
    folder = model.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise OutputError(f"cannot write {model}: {folder} is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write {model}: {folder} is not yours to write to")


def _write(fit: Fit, output: str) -> tuple[str, ...]:
    """Write the model, the document and the Python file; without a model, the document alone."""
    from outlive.fitting.loading import loading_snippet, stale_caches
    from outlive.rendering.media.json import document_of, dump

    model, document, snippet = _targets(output)
    with writing(output):
        document.parent.mkdir(parents=True, exist_ok=True)
        written = [str(document)]
        if fit.chosen is not None:
            fit.save(model)
            for cache in stale_caches(model, hashlib.sha256(fit.model).hexdigest()):
                cache.unlink(missing_ok=True)
            text = loading_snippet(fit.chosen, fit.budget, model.name, beside=True)
            write_whole(snippet, text)
            written = [str(model), str(document), str(snippet)]
        where = str(model) if fit.chosen is not None else None
        write_whole(document, dump(document_of(fit, written=where)) + "\n")
    return tuple(written)


def _report(args: argparse.Namespace, fit: Fit, written: tuple[str, ...]) -> None:
    if args.plot:
        from outlive.rendering.fit_plot import plot_fit

        with writing(args.plot):
            plot_fit(fit, args.plot)
    told = argparse.Namespace(output=None)  # --output is the model; what is said goes to standard output
    if args.format == "json":
        from outlive.rendering.media.json import document_of

        where = written[0] if fit.chosen is not None and written else None
        write_json(told, document_of(fit, written=where))
    elif args.format == "html":
        show_fit(told, fit, written[0] if fit.chosen is not None and written else None)
    else:
        from outlive.rendering.fit_text import fit_text

        write_text(told, fit_text(fit, args.all, written))
