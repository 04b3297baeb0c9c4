"""`outlive cut`: a part of a model as a separate model."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import Any

from outlive.cli.arguments import add_telling_options, option
from outlive.cli.failures import refusing
from outlive.cli.present import check_model_output, tell
from outlive.cli.terminal import write_file
from outlive.verbs.cut import cut
from outlive.verbs.read import read

EXAMPLES = """\
Examples:
  outlive cut healthy.tflite --ops 2:5 -o part.tflite          operators 2 to 4
  outlive cut healthy.tflite --ops 5 -o one.tflite             one operator; --ops 3,7,9 for several
  outlive cut healthy.tflite --until 3 -o front.tflite         operators 0 to 3
  outlive cut healthy.tflite --outputs block1/add -o part.tflite   everything that this tensor needs
  outlive cut model.tflite --input-shape image=1x96x96x3 -o small.tflite
  outlive cut model.tflite --ops 5 --make-input conv/weights -o part.tflite
  outlive cut model.tflite --make-constant mask=mask.npy -o part.tflite

`outlive read MODEL --graph` lists operators and tensors with their numbers. #12 stands for tensor 12.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file")
    which = parser.add_argument_group("Part to keep")
    one = which.add_mutually_exclusive_group()
    option(one, "--ops", "operators: 5, 3,7,9 or 10:20 (without 20)", metavar="WHICH")
    option(one, "--until", "all operators up to and including N", metavar="N")
    words = "tensors that become the outputs, by name or #index; only what they need is kept"
    option(which, "--outputs", words, several=True, metavar="NAMES")
    change = parser.add_argument_group("Changes")
    words = "fix the shape of an input, such as image=1x96x96x3; LiteRT computes the other shapes in a worker"
    option(change, "--input-shape", words, several=True, metavar="NAME=SHAPE")
    words = "turn a constant or an intermediate tensor into an input"
    option(change, "--make-input", words, several=True, metavar="NAME")
    words = "turn an input or an intermediate tensor into a constant with the value of a .npy file"
    option(change, "--make-constant", words, several=True, metavar="NAME=FILE.npy")
    option(parser, "-o", "--output", "write the part to FILE", metavar="FILE", required=True)
    add_telling_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Cut, write and show; usage errors list the choices."""
    check_model_output(args)
    with refusing(args):
        _refuse_output(args)
        model = read(args.file)
        part = cut(
            model,
            ops=args.ops,
            until=args.until,
            outputs=_names(args.outputs, model) if args.outputs else None,
            input_shapes=dict(_pairs(args.input_shape, "image=1x96x96x3")),
            make_input=tuple(args.make_input),
            make_constant={name: _load(path) for name, path in _pairs(args.make_constant, "mask=mask.npy")},
        )
    write_file(args.output, part.model)
    return tell(args, replace(part, path=args.output))


def _refuse_output(args: argparse.Namespace) -> None:
    if os.path.exists(args.output) and os.path.exists(args.file) and os.path.samefile(args.output, args.file):
        raise ValueError(f"{args.output} is the model itself; give the part another name")
    if os.path.isdir(args.output):
        raise ValueError(f"{args.output} is a folder; name the file to write")


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
        raise ValueError(f"{path} is not an array that numpy.save wrote: {error}") from None
