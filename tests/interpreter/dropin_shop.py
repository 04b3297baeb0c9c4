"""Where calls to an Interpreter are made: the same ones to LiteRT and to the drop-in.

`python -m tests.interpreter.dropin_ask MODULE FOLDER OUTPUT` makes them all with that module's Interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

F4 = np.float32
CALLS: dict[str, Callable[[Any], Any]] = {}
COMPLAINTS: set[str] = set()  # calls that LiteRT answers with an exception; all others must give something


def call(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Have a call made."""
    CALLS[function.__name__] = function
    return function


def complaint(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Have a call made to which the answer is an exception."""
    COMPLAINTS.add(function.__name__)
    return call(function)


class Shop:
    """Opens models with one kind of interpreter."""

    def __init__(self, interpreter: Any, folder: Path) -> None:
        self.interpreter, self.folder = interpreter, folder

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.tflite"

    def open(self, name: str, allocate: bool = True, **options: Any) -> Any:
        interpreter = self.interpreter(model_path=str(self.path(name)), **options)
        if allocate:
            interpreter.allocate_tensors()
        return interpreter

    def run(self, interpreter: Any, *values: Any) -> list[Any]:
        for row, value in zip(interpreter.get_input_details(), values, strict=True):
            interpreter.set_tensor(row["index"], value)
        interpreter.invoke()
        return [interpreter.get_tensor(row["index"]) for row in interpreter.get_output_details()]

    def outcome(self, function: Callable[[Any], Any]) -> Any:
        """What it gives, or what it raises: the base type and the text, without what outlive adds."""
        try:
            return "gave", function(self)
        except Exception as error:
            kinds = (ValueError, RuntimeError, TypeError, OSError, Exception)
            return "raised", next(k.__name__ for k in kinds if isinstance(error, k)), first_words(str(error))


def first_words(text: str) -> str:
    """The runtime's own words: outlive's finding begins with its code.

    LiteRT joins some sentences without a space ("Could not open 'x'.The model ..."); outlive puts each on a
    line of its own.
    """
    return "".join(text.split("\nerror[", maxsplit=1)[0].split())
