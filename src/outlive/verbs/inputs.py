"""Inputs in a user's own words: `image=photo.png`, `batch.npz`, `zeros`; arrays are taken as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_FILLINGS = ("zeros", "ones", "random")
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")


def parse_inputs(given: Any) -> Any:
    """What a verb takes: a word for all inputs, a mapping of names to arrays and words, or a list in order.

    ValueError for words that name no input or no file of arrays.
    """
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, (list, tuple)) or not words or not all(isinstance(word, str) for word in words):
        return given
    if len(words) > 1 and set(words) <= set(_FILLINGS):
        return list(words)
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
            raise ValueError(f"say which input {word!r} is for: NAME={word}")
    return named


def _load(value: str) -> Any:
    if value in _FILLINGS:
        return value
    suffix = Path(value).suffix.lower()
    if suffix in _IMAGES:
        return _load_image(value)
    if suffix not in (".npy", ".npz"):
        raise ValueError(f"{value!r} is no input: give a .npy, .npz or image file, zeros, ones or random")
    import zipfile

    import numpy as np

    try:
        with open(value, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            return dict(loaded) if suffix == ".npz" else loaded
    except (EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"no arrays can be read from {value}: {error}") from error


def _load_image(path: str) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("reading images needs Pillow: pip install pillow") from None
    import numpy as np

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))[np.newaxis]
