"""`outlive cut`: a part of a model as a model of its own."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import Any

from outlive.cli.arguments import option
from outlive.cli.failures import refusing
from outlive.cli.present import tell
from outlive.cli.terminal import write_file
from outlive.verbs.cut import cut
from outlive.verbs.read import read

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
    option(parser, "file")
    which = parser.add_argument_group("what to cut out")
    one = which.add_mutually_exclusive_group()
    option(one, "--ops", "operators: 5, 3,7,9 or 10:20 (20 left out)", metavar="WHICH")
    option(one, "--until", "every operator up to N, and N itself", metavar="N")
    words = "tensors that become the outputs, by name or #index; what they do not need is left out"
    option(which, "--outputs", words, several=True, metavar="NAMES")
    change = parser.add_argument_group("what to change in it")
    words = "a fixed shape of an input, such as image=1x96x96x3; LiteRT works out the others in a worker"
    option(change, "--input-shape", words, several=True, metavar="NAME=SHAPE")
    words = "a constant, or a tensor in between, that becomes an input"
    option(change, "--make-input", words, several=True, metavar="NAME")
    words = "an input, or a tensor in between, that becomes a constant with the value in a .npy file"
    option(change, "--make-constant", words, several=True, metavar="NAME=FILE.npy")
    output = parser.add_argument_group("output")
    option(output, "-o", "--output", "where to write the part", metavar="FILE", required=True)
    words = "how to show what was cut (default text)"
    option(output, "--format", words, choices=("text", "json"), default="text")
    option(output, "-v", "--verbose", "show more")


def run(args: argparse.Namespace) -> int:
    """Cut, write and show; usage errors list the choices."""
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
        raise ValueError(f"{path} is no array that numpy.save wrote: {error}") from None
