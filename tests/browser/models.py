"""Models drawn for the browser: one with names that attack, one with ten thousand operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outlive.surgery import write

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    '"><svg onload=window.hacked=3>',
    "'+alert(1)+'${window.hacked=4}{{7*7}}",
    "line\u2028paragraph\u2029end",
    "\u202egnp.exe\u202c right to left",
    "nul\x00 escape\x1b[31m red",
    "<!--<script>",
    "javascript:window.hacked=5",
    "x" * 1_000_000,
)


def chain(names: list[str], count: int = 256) -> bytes:
    """A model that passes a vector through one ABS per name: tensors are called as asked."""
    tensors: list[dict[str, Any]] = [
        {"name": name.encode("utf-8"), "shape": [1, count], "type": "FLOAT32", "has_rank": True}
        for name in names
    ]
    operators = [{"opcode_index": 0, "inputs": [at], "outputs": [at + 1]} for at in range(len(names) - 1)]
    return write(
        {
            "version": 3,
            "description": "<script>window.hacked = 6</script>",
            "operator_codes": [{"builtin_code": "ABS", "deprecated_builtin_code": 101, "version": 1}],
            "subgraphs": [
                {
                    "name": "<b>main</b>",
                    "tensors": tensors,
                    "inputs": [0],
                    "outputs": [len(names) - 1],
                    "operators": operators,
                }
            ],
            "buffers": [{}],
        }
    )


def hostile_model(folder: Path) -> Path:
    """A file with a hostile name and hostile tensors."""
    path = folder / "<img src=x onerror=alert(1)>.tflite"
    path.write_bytes(chain(["input", *HOSTILE, "output"]))
    return path


def long_model(folder: Path, operators: int) -> Path:
    """A file with many operators."""
    path = folder / f"long_{operators}.tflite"
    path.write_bytes(chain([f"block_{at // 10}/layer_{at % 10}/activation" for at in range(operators + 1)]))
    return path
