"""`outlive run`: run a model in a process that may die, and say what happened."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

from outlive import verbs
from outlive.cli import exits
from outlive.cli.formats import EXPORTS, export_run, tell_errors
from outlive.cli.output import add_output_options, complain, write_json, write_text, writing
from outlive.cli.pages import need_a_file, show_broken, show_run
from outlive.cli.run_options import add_run_options, add_sandbox_option
from outlive.errors import LimitReached, OutliveError
from outlive.finding import Severity
from outlive.keeping import whole_file
from outlive.worker.compiled_ways import AcceleratorWarning
from outlive.worker.limits import Limits

EXAMPLES = """\
examples:
  outlive run model.tflite                              seeded random inputs in the model's own range
  outlive run model.tflite --input image=photo.npy --save outputs.npz
  outlive run model.tflite --input scaled.npy --quantize --dequantize   real numbers in and out
  outlive run model.tflite --input zeros --repeat 20 --accelerator builtin
  outlive run model.tflite --delegate libnpu.so,power=low   does it take all of the model?
  outlive run model.tflite --watch-outputs              are all outputs really written?
  outlive run model.tflite --accelerator auto           the first of gpu, cpu, builtin that is fit for it
  outlive run model.tflite --memory 512MB --seconds 30  end it if it takes more
  outlive run model.tflite --format trace --output run.json    to look at in ui.perfetto.dev
exit codes: 0 it ran, 1 the runtime refused it or an error was found, 3 it died or was ended at a limit, 4 it
cannot fit the limit and was not started
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("file", metavar="FILE", help="a .tflite model")
    add_run_options(parser, "--input", compiled=True)
    add_sandbox_option(parser, None, "auto, or what OUTLIVE_SANDBOX says, has it for LiteRT on CPUs")
    parser.add_argument(
        "--force", action="store_true", help="start it even if the plan says that it cannot fit --memory"
    )
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="invoke N times (default 1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of random inputs (default 0)")
    parser.add_argument("--runtime", choices=("litert", "tensorflow", "tflite_runtime"), default="litert")
    parser.add_argument("--python", metavar="PATH", help="run the worker under another Python")
    parser.add_argument(
        "--delegate",
        action="append",
        default=[],
        metavar="LIBRARY[,KEY=VALUE...]",
        help="an accelerator's library with its options, loaded in the worker",
    )
    parser.add_argument(
        "--quantize", action="store_true", help="turn floats for quantized inputs into their integers"
    )
    parser.add_argument(
        "--dequantize", action="store_true", help="give quantized outputs as the real numbers they stand for"
    )
    parser.add_argument(
        "--watch-outputs",
        action="store_true",
        help="run it twice, in memory filled with different bytes, and say which outputs it never wrote",
    )
    parser.add_argument("--save", metavar="FILE.npz", help="save the outputs as arrays")
    add_output_options(parser, "html", "csv", "trace")


def run(args: argparse.Namespace) -> int:
    """Run the model and report; the exit code says how it ended."""
    need_a_file(args)
    try:
        limits = Limits(memory=args.memory, seconds=args.seconds)
        inputs = parse_inputs(args.input)
        if args.repeat < 1:
            raise ValueError("--repeat takes a number of at least 1")
        options = {
            "num_threads": args.threads,
            "runtime": args.runtime,
            "python": args.python,
            "sandbox": args.sandbox,
            "experimental_delegates": [_delegate(word) for word in args.delegate] or None,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AcceleratorWarning)  # told below, in the words of this command
            flight = verbs.run(
                args.file,
                inputs,
                limits=limits,
                accelerator=args.accelerator,
                repeat=args.repeat,
                seed=args.seed,
                force=args.force,
                quantize=args.quantize,
                dequantize=args.dequantize,
                watch_outputs=args.watch_outputs,
                **options,
            )
    except LimitReached as error:
        return _not_started(args, error)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except (ValueError, OSError) as error:
        complain(f"outlive run: {error}")
        return exits.USAGE
    for name, why in flight.runtime.get("skipped", ()):
        complain(f"outlive run: {name} is not used: {why}")
    return _report(args, flight)


def _not_started(args: argparse.Namespace, error: LimitReached) -> int:
    """Say why the run was not even begun."""
    from outlive.records import ModelPath
    from outlive.rendering.finding_text import rich_finding
    from outlive.rendering.media.json import document_of
    from outlive.worker.flight import NotStarted

    if args.format in EXPORTS:
        tell_errors(error.findings)
    elif args.format in ("json", "html"):
        document = document_of(NotStarted(model=ModelPath(path=args.file), findings=tuple(error.findings)))
        if args.format == "html":
            show_broken(args, "run", error.findings, document)
        else:
            write_json(args, document)
    else:
        write_text(args, (rich_finding(item) for item in error.findings))
    return exits.DOES_NOT_FIT


def _report(args: argparse.Namespace, flight: Any) -> int:
    from outlive.rendering.flight_text import flight_text
    from outlive.rendering.media.json import document_of

    bad = flight.died or flight.error_type
    findings = flight.findings
    if args.format in EXPORTS:
        export_run(args, flight, findings)
    elif args.format == "html":
        show_run(args, flight, findings, document_of(flight, findings=findings))
    elif args.format == "json":
        write_json(args, document_of(flight, findings=findings))
    else:
        write_text(args, flight_text(flight, args.file, findings))
    if args.save and not bad:
        import numpy as np

        name = args.save if args.save.endswith(".npz") else f"{args.save}.npz"
        with writing(name), whole_file(name) as file:
            np.savez(file, **flight.values)
    if flight.died or flight.ended_by or any(item.code == "D502" for item in findings):
        return exits.DIED
    grave = any(finding.severity is Severity.ERROR for finding in findings)
    return exits.FINDINGS if bad or grave else exits.CLEAN


def _delegate(word: str) -> Any:
    """What `--delegate` names: a library, and its options behind commas."""
    from outlive.accelerators.libraries import library_problem
    from outlive.worker.options import load_delegate

    library, *pairs = word.split(",")
    if not library or not all("=" in pair for pair in pairs):
        raise ValueError(f"{word!r} is no delegate: give LIBRARY or LIBRARY,KEY=VALUE,KEY=VALUE")
    problem, remedy = library_problem(library)
    if problem:
        raise ValueError(f"--delegate {library}: {problem}; {remedy} (outlive explain A806)")
    return load_delegate(library, dict(pair.split("=", 1) for pair in pairs))


def parse_inputs(words: list[str]) -> Any:
    """What `--input` gives: one word for all inputs, or a mapping of names to arrays and words."""
    if not words:
        return None
    named: dict[str, Any] = {}
    for word in words:
        name, found, value = word.rpartition("=")
        loaded = _load(value)
        if found:
            named[name] = loaded
        elif isinstance(loaded, dict):
            named.update(loaded)
        elif len(words) == 1:
            return loaded if isinstance(loaded, str) else [loaded]
        else:
            raise ValueError(f"say which input {word!r} is for: --input NAME={word}")
    return named


def _load(value: str) -> Any:
    if value in ("zeros", "ones", "random"):
        return value
    import numpy as np

    suffix = Path(value).suffix.lower()
    if suffix in (".npy", ".npz"):
        with open(value, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            return dict(loaded) if suffix == ".npz" else loaded
    if suffix in (".png", ".jpg", ".jpeg", ".bmp", ".webp"):
        return _load_image(value)
    raise ValueError(f"{value!r} is no input: give a .npy, .npz or picture file, zeros, ones or random")


def _load_image(path: str) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("reading pictures needs Pillow: pip install pillow") from None
    import numpy as np

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))[np.newaxis]
