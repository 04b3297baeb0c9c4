"""A model that leaks when it is loaded: the runtime's fault."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Growth
from tests.rules.growths import growth, heap, stage


def fact(tmp_path: Path) -> Growth:
    return growth(heap(cycle="load"), stage("invoke"), what="m.tflite")
