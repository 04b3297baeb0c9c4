"""`outlive cut`: a part of a model as a model of its own."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import Any

from outlive.cli import exits
from outlive.cli.output import complain, write_file
from outlive.cli.present import present
from outlive.errors import OutliveError

EXAMPLES = """\
examples:
  outlive cut model.tflite --ops 10:20 -o part.tflite      operators 10 to 19
  outlive cut model.tflite --ops 5 -o one.tflite           one operator; --ops 3,7,9 for several
  outlive cut model.tflite --until 12 -o front.tflite      all operators up to 12, and 12 itself
  outlive cut model.tflite --outputs conv/out,#12 -o part.tflite   what these tensors need, and no more
  outlive cut model.tflite --input-shape image=1x96x96x3 -o small.tflite
  outlive cut model.tflite --ops 5 --make-input conv/weights -o part.tflite
  outlive cut model.tflite --make-constant mask=mask.npy -o part.tflite
`outlive read MODEL --graph` lists operators and tensors with their numbers; names may be written #NUMBER.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("file", metavar="MODEL", help="a .tflite model")
    which = parser.add_argument_group("what to cut out")
    one = which.add_mutually_exclusive_group()
    one.add_argument("--ops", metavar="WHICH", help="operators: 5, 3,7,9 or 10:20 (20 left out)")
    one.add_argument("--until", type=int, metavar="N", help="every operator up to N, and N itself")
    which.add_argument(
        "--outputs",
        action="append",
        default=[],
        metavar="NAMES",
        help="tensors that become the outputs, by name or #index; what they do not need is left out",
    )
    change = parser.add_argument_group("what to change in it")
    change.add_argument(
        "--input-shape",
        action="append",
        default=[],
        metavar="NAME=SHAPE",
        help="a fixed shape of an input, such as image=1x96x96x3; LiteRT works out the others in a worker",
    )
    change.add_argument(
        "--make-input",
        action="append",
        default=[],
        metavar="NAME",
        help="a constant, or a tensor in between, that becomes an input",
    )
    change.add_argument(
        "--make-constant",
        action="append",
        default=[],
        metavar="NAME=FILE.npy",
        help="an input, or a tensor in between, that becomes a constant with the value in a .npy file",
    )
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--output", metavar="FILE", required=True, help="where to write the part")
    output.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to show what was cut (default text)"
    )
    output.add_argument("-v", "--verbose", action="count", default=0, help="show more")


def run(args: argparse.Namespace) -> int:
    """Cut, write and show; usage errors say what there is to choose from."""
    from outlive import verbs

    try:
        _refuse_output(args)
        model = verbs.read(args.file)
        part = verbs.cut(model, **_request(args, model))
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except (ValueError, OSError) as error:
        complain(f"outlive cut: {error}")
        return exits.USAGE
    write_file(args.output, part.model)
    shown = argparse.Namespace(**{**vars(args), "output": None})
    return present(shown, replace(part, path=args.output))


def _refuse_output(args: argparse.Namespace) -> None:
    if os.path.exists(args.output) and os.path.exists(args.file) and os.path.samefile(args.output, args.file):
        raise ValueError(f"{args.output} is the model itself; give the part another name")
    if os.path.isdir(args.output):
        raise ValueError(f"{args.output} is a folder; name the file to write")


def _request(args: argparse.Namespace, model: Any) -> dict[str, Any]:
    return {
        "ops": args.ops,
        "until": args.until,
        "outputs": _names(args.outputs, model) if args.outputs else None,
        "input_shapes": dict(_pairs(args.input_shape, "image=1x96x96x3")),
        "make_input": tuple(args.make_input),
        "make_constant": {name: _load(path) for name, path in _pairs(args.make_constant, "mask=mask.npy")},
    }


def _names(words: list[str], model: Any) -> list[str]:
    """The names in `a,b,#12`; a name that has a comma of its own is taken whole."""
    known = {tensor.name for tensor in model.subgraphs[0].tensors}
    split = [[word] if word in known else word.split(",") for word in words]
    return [name.strip() for names in split for name in names if name.strip()]


def _pairs(words: list[str], example: str) -> list[tuple[str, str]]:
    found = []
    for word in words:
        name, equals, value = word.rpartition("=")
        if not (name and equals and value):
            raise ValueError(f"{word[:80]!r} lacks a name or a value; write it as {example}")
        found.append((name, value))
    return found


def _load(path: str) -> Any:
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is no array that numpy.save wrote: {error}") from None
