"""`snippet`: the code that feeds and reads a model correctly."""

from __future__ import annotations

from outlive.exporting.snippets import Snippet, make_snippet
from outlive.model import Model, Source
from outlive.verbs.read import sound


def snippet(
    source: Source | Model, *, lang: str = "python", signature: str | None = None, runtime: str = "litert"
) -> Snippet:
    """The code that feeds and reads a model correctly: `.text`, `.file_name`, `.save(path)`.

    `lang` is "python", "c++", "c" or "java"; `signature` the one to call, where there are several; `runtime`
    whose Interpreter Python takes: "litert", "outlive", "tensorflow", "tflite_runtime". ValueError for a type
    that the language cannot feed.
    """
    if runtime != "litert" and lang != "python":
        raise ValueError("--runtime is for Python")
    return make_snippet(sound(source), lang, signature=signature, runtime=runtime)
