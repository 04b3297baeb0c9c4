"""What a fresh interpreter sees and holds after it did something with outlive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# Native runtimes must never come into the parent process; the others would make `import outlive` slow.
UNWANTED_MODULES = frozenset(
    {
        "ai_edge_litert",
        "tensorflow",
        "tflite_runtime",
        "IPython",
        "ipykernel",
        "jinja2",
        "numpy",
        "pandas",
        "rich",
    }
)
UNWANTED_LIBRARIES = ("litert", "tensorflow", "tflite")  # in the name of a mapped library, in any case

_LOOK_AROUND = """
import json, pathlib, sys
maps = pathlib.Path("/proc/self/maps")  # Linux only; elsewhere the modules have to do
rows = [row.split(maxsplit=5) for row in maps.read_text().splitlines()] if maps.exists() else []
mapped = sorted({row[5] for row in rows if len(row) == 6})
print(json.dumps({"modules": sorted({name.split(".")[0] for name in sys.modules}), "mapped": mapped}))
"""

_TRY_ALL_NAMES = """
import inspect, json, outlive
faults = []
for name in outlive.__all__:
    try:
        thing = getattr(outlive, name)
    except (AttributeError, ImportError) as error:
        faults.append(f"{name} is in __all__ and cannot be had: {error}")
        continue
    if not name.startswith("_") and name not in dir(outlive):
        faults.append(f"{name} is in __all__ and not in dir(outlive)")
    if inspect.isclass(thing) or inspect.isroutine(thing):
        doc = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
        # A dataclass without a docstring gets its signature for one.
        if not doc or doc.startswith(f"{thing.__name__}("):
            faults.append(f"{name} is public and has no docstring")
print(json.dumps(faults))
"""


def loaded_by(statements: str, source: Path) -> list[str]:
    """The unwanted modules and libraries a fresh interpreter holds after `statements`.

    `source` is the folder that holds the package, first in the interpreter's path.
    """
    seen = _run(f"{statements}\n{_LOOK_AROUND}", source)
    modules = sorted(UNWANTED_MODULES.intersection(seen["modules"]))
    problems = [f"the module {name} is loaded after: {statements}" for name in modules]
    libraries = [path for path in seen["mapped"] if _is_unwanted_library(path)]
    return problems + [f"the library {path} is mapped after: {statements}" for path in libraries]


def _is_unwanted_library(path: str) -> bool:
    """Whether a mapped file is a runtime's library; a mapped model (`.tflite`) is not one."""
    name = Path(path).name.lower()
    is_library = ".so" in name or ".dylib" in name or ".dll" in name
    return is_library and any(word in name for word in UNWANTED_LIBRARIES)


def names_not_to_be_had(source: Path) -> list[str]:
    """Names of `outlive.__all__` that do not resolve, also lazily, or have no docstring."""
    faults: list[str] = _run(_TRY_ALL_NAMES, source)
    return faults


def _run(script: str, source: Path) -> Any:
    """What the script prints last, as JSON, in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"a fresh interpreter failed on:\n{script}\n{done.stderr}"
    return json.loads(done.stdout.splitlines()[-1])
