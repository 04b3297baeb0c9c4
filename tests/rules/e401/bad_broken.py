"""LiteRT is installed, and was built for another Python."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "ImportError: _pywrap_litert_interpreter_wrapper.so: undefined symbol: PyType_FromMetaclass"
