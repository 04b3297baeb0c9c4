"""Recipes: what is quantized and how, in the words of ai-edge-quantizer's JSON recipes.

A recipe is a list of rows (`regex` on an operator's output names, `operation`, `algorithm_key`, `op_config`);
of the rows that match an operator the last one holds. So leaving out is a row behind the others, and choosing
is the same rows with a narrower `regex`.
"""

import difflib
import fnmatch
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from outlive.model import Model, Operator
from outlive.quant.quantized import Recipe

_MIN_MAX = "min_max_uniform_quantize"
_KEPT = {"algorithm_key": "no_quantize", "op_config": {}}


def _weights(bits: int, kind: str = "INT") -> dict[str, Any]:
    return {"num_bits": bits, "symmetric": True, "granularity": "CHANNELWISE", "dtype": kind}


def _config(weights: dict[str, Any], *, integer: bool, activations: int = 0) -> dict[str, Any]:
    config: dict[str, Any] = {
        "weight_tensor_config": weights,
        "compute_precision": "INTEGER" if integer else "FLOAT",
        "explicit_dequantize": not integer,
    }
    if activations:
        # 16 bits are symmetric and 8 bits are not: that is what the runtime's kernels take.
        config["activation_tensor_config"] = {
            "num_bits": activations,
            "symmetric": activations == 16,
            "granularity": "TENSORWISE",
            "dtype": "INT",
        }
    return config


def _row(config: dict[str, Any], algorithm: str = _MIN_MAX) -> dict[str, Any]:
    return {"regex": ".*", "operation": "*", "algorithm_key": algorithm, "op_config": config}


RECIPES: dict[str, Recipe] = {
    "dynamic-int8": (_row(_config(_weights(8), integer=True)),),
    "weight-only-int8": (_row(_config(_weights(8), integer=False)),),
    "weight-only-int4": (_row(_config(_weights(4), integer=False)),),
    "fp16": (_row(_config(_weights(16, "FLOAT"), integer=False), "float_casting"),),
    "static-int8": (_row(_config(_weights(8), integer=True, activations=8)),),
    "static-int16x8": (_row(_config(_weights(8), integer=True, activations=16)),),
}


def find_recipe(word: Any) -> tuple[str, Recipe]:
    """A recipe by name, as a .json file or as rows; and what it is called. ValueError if it is none."""
    if isinstance(word, str) and word in RECIPES:
        return word, RECIPES[word]
    if isinstance(word, (str, Path)):
        if not str(word).endswith(".json"):
            near = difflib.get_close_matches(str(word), RECIPES, 1, 0.3)
            hint = f"did you mean {near[0]}? " if near else ""
            known = f"there are {', '.join(RECIPES)}, or FILE.json"
            raise ValueError(f"unknown recipe {str(word)[:80]!r}; {hint}{known}")
        try:
            return str(word), _checked(json.loads(Path(word).read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"cannot read a recipe from {str(word)!r}: {error}") from error
    return "recipe", _checked(word)


def _checked(rows: Any) -> Recipe:
    needed = {"regex", "operation", "algorithm_key", "op_config"}
    if not isinstance(rows, (list, tuple)) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError("a recipe is a list of rows with regex, operation, algorithm_key and op_config")
    for number, row in enumerate(rows):
        missing = sorted(needed - set(row))
        if missing and row.get("algorithm_key") != "no_quantize":
            raise ValueError(f"row {number} of the recipe has no {missing[0]}")
        try:
            re.compile(str(row.get("regex", "")))
        except re.error as error:
            raise ValueError(f"row {number} of the recipe has an invalid regex: {error}") from error
    return tuple(rows)


def needs_samples(recipe: Recipe) -> bool:
    """True if ranges of activations must be measured."""
    return any(
        "activation_tensor_config" in row.get("op_config", {}) or row.get("algorithm_key") == "gptq"
        for row in recipe
    )


def narrowed(recipe: Recipe, model: Model, skip: Iterable[str], only: Iterable[str], io: str) -> Recipe:
    """The recipe for some operators only; `skip` and `only` are types, names, patterns or indices of them."""
    chosen, left_out = find_layers(model, only), find_layers(model, skip)
    rows: list[Any] = list(recipe)
    if chosen:
        rows = [{**row, "regex": _scope(model, step)} for step in chosen for row in recipe]
    rows += [{**_KEPT, "regex": _scope(model, step), "operation": "*"} for step in left_out]
    if io == "float":
        # A scope of its own: rows of one scope and operation replace each other.
        rows += [{**_KEPT, "regex": "(?:)", "operation": end} for end in ("INPUT", "OUTPUT")]
    return tuple(rows)


def _scope(model: Model, step: Operator) -> str:
    """A pattern for the one operator; ai-edge-quantizer joins the names of its outputs by semicolons."""
    tensors = model.subgraphs[0].tensors
    joined = "".join(f"{re.escape(tensors[index].name)};?" for index in step.outputs)
    return f"^{joined}$"


def find_layers(model: Model, words: Iterable[str | int]) -> list[Operator]:
    """The operators that any of the words means; ValueError for a word that means none."""
    found: dict[int, Operator] = {}
    for word in words:
        meant = [step for step in model.subgraphs[0].operators if matches(model, step, word)]
        if not meant:
            names = {step.name for step in model.subgraphs[0].operators}
            names |= {_output_name(model, step) for step in model.subgraphs[0].operators}
            near = difflib.get_close_matches(str(word), sorted(names), 3, 0.4)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise ValueError(f"no operator is called {str(word)[:80]!r}{hint}")
        found.update((step.index, step) for step in meant)
    return [found[index] for index in sorted(found)]


def matches(model: Model, step: Operator, word: str | int) -> bool:
    """True if the word means the operator: its index, its type, its output's name or a pattern of that."""
    if isinstance(word, int) or word.isdecimal():
        return step.index == int(word)
    if span := re.fullmatch(r"(\d*):(\d*)", word):
        start, stop = (int(part) if part else None for part in span.groups())
        return step.index in range(*slice(start, stop).indices(step.index + 1 if stop is None else stop))
    name = _output_name(model, step)
    return word in (step.name, name) or fnmatch.fnmatchcase(name, word)


def _output_name(model: Model, step: Operator) -> str:
    return model.subgraphs[0].tensors[step.outputs[0]].name if step.outputs else ""


def layer_filter(model: Model, words: Sequence[str | int]) -> Any:
    """A test for `compare`'s layers; ValueError for a word that means none."""
    indices = {step.index for step in find_layers(model, words)}
    return lambda index, kind, name: index in indices
