"""TensorFlow for real, where it is installed; this process never imports it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def tensorflow_stays_outside() -> Iterator[None]:
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("pip install tensorflow-cpu")
    yield
    assert "tensorflow" not in sys.modules
