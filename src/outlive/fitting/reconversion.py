"""What a model was converted from, for shapes that its .tflite does not take: it is converted once more.

a shape that is refused ─► TensorFlow in a worker ─► the same inputs and outputs? ─► a file, kept for later
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from outlive.atomic_files import file_digest
from outlive.cache import ResultCache
from outlive.errors import ModelError
from outlive.fitting.fit_result import Shape
from outlive.interpreter.judge import Judge
from outlive.interpreter.prepared_shapes import preparer
from outlive.model import Model, read_source
from outlive.quant.conversion import convert_with_shapes

_REFUSED = "refused"
_MOST_WORDS = 300
Guard = Callable[..., Callable[..., Any]]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A Keras model or a SavedModel, and the model that was converted from it as it is."""

    source: Any = field(repr=False)
    model: Model = field(repr=False)
    judge: Judge = field(repr=False)

    def convert(self, shapes: Sequence[Shape], cache: ResultCache, guard: Guard) -> bytes:
        """The file with these input shapes, in the order of the model's inputs; ValueError if it has none."""
        key = ("converted", self.digest, *shapes)
        content = cache.recall_model(*key) or self._kept(shapes, cache, guard, key)
        problem = preparer(content)({})[1]
        if problem:
            raise ValueError(f"the runtime does not take what TensorFlow makes of it: {problem}")
        return content

    def _kept(
        self, shapes: Sequence[Shape], cache: ResultCache, guard: Guard, key: tuple[object, ...]
    ) -> bytes:
        """Converted, and kept; a refusal as well, but not a death or a limit."""
        reason = cache.recall(_REFUSED, *key).get("reason")
        if isinstance(reason, str):
            raise ValueError(reason)
        try:
            content = self._converted(shapes, guard)
        except (ModelError, ValueError) as error:
            cache.keep({"reason": words_of(error)}, _REFUSED, *key)
            raise
        cache.keep_model(content, *key)
        return content

    @cached_property
    def digest(self) -> str:
        """The source's, by what is in it."""
        digest = hashlib.sha256()
        if not isinstance(self.source, (str, os.PathLike)):
            digest.update(self.source.to_json().encode())
            for value in self.source.get_weights():
                digest.update(f"{value.dtype.str}{value.shape}".encode())
                digest.update(value.tobytes())
            return digest.hexdigest()
        root = Path(self.source)
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file():
                digest.update(f"{path.relative_to(root)}:{file_digest(path)}\n".encode())
        return digest.hexdigest()

    def _converted(self, shapes: Sequence[Shape], guard: Guard) -> bytes:
        key, inputs, _ = ends = _ends(self.model)
        content = convert_with_shapes(
            self.source, key, dict(zip(inputs, shapes, strict=True)), guard, self.judge
        )
        made = read_source(content).model
        if made is None or made.flaws or _ends(made) != ends:
            raise ValueError("converted again, its inputs or outputs are not the same")
        if [tensor.shape for tensor in made.inputs] != [tuple(shape) for shape in shapes]:
            raise ValueError("TensorFlow's converter does not keep these shapes")
        return content


def words_of(error: Exception) -> str:
    """What an error says, in one short line."""
    finding = getattr(error, "finding", None)
    if finding is None:
        return " ".join(str(error).split())[:_MOST_WORDS]
    facts = ", ".join(item.fact for item in finding.evidence[:1])
    return " ".join(f"{finding.headline}: {facts}".split())[:_MOST_WORDS]


def _ends(model: Model) -> tuple[str, list[str], list[str]]:
    """The main signature, and what it calls the inputs and outputs, in the model's order."""
    main = model.subgraphs[0]
    for signature in model.signatures:
        inputs = {index: name for name, index in signature.inputs}
        outputs = {index: name for name, index in signature.outputs}
        if signature.subgraph_index == 0 and set(inputs) == set(main.input_indices):
            named = [outputs.get(index, "") for index in main.output_indices]
            return signature.key, [inputs[index] for index in main.input_indices], named
    raise ValueError("the converted model has no signature that names its inputs")
