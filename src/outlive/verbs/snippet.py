"""`snippet`: the code that feeds and reads a model correctly."""

from outlive.exporting.snippets import Snippet, make_snippet
from outlive.model import Model, Source
from outlive.verbs.read import sound


def snippet(
    source: Source | Model, *, lang: str = "python", signature: str | None = None, runtime: str = "litert"
) -> Snippet:
    """Write the code that calls a model: `.text`, `.file_name`, `.save(path)`.

    `lang` is "python", "c++", "c" or "java"; `signature` is the one to call, if there are several; `runtime`
    is the package of the Interpreter for Python: "litert", "outlive", "tensorflow", "tflite_runtime". Raises
    ValueError for a type that the language does not have.

    >>> outlive.snippet("healthy.tflite").file_name
    'run_healthy.py'
    """
    if runtime != "litert" and lang != "python":
        raise ValueError("--runtime is for Python")
    return make_snippet(sound(source), lang, signature=signature, runtime=runtime)
