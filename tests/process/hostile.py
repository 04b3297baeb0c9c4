"""Workers that a model has taken over: real nurseries and workers whose code a test has changed."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

_PROGRAM = """#!{python}
import importlib.util, os, sys
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"  # the payload may import numpy, and a nursery has one thread
spec = importlib.util.spec_from_file_location("start", sys.argv[1])
start = importlib.util.module_from_spec(spec)
spec.loader.exec_module(start)
plain_load = start.load
def load(folder):
    plain_load(folder)
    exec(compile(open({payload!r}).read(), "payload", "exec"), {{"__name__": "payload"}})
start.load = load
sys.argv.pop(0)
start.main()
"""


def python_with(folder: Path, payload: str) -> str:
    """A Python to be given as `python=`: the child code that it runs has been changed by these lines."""
    lines, program = folder / "payload.py", folder / "python"
    lines.write_text(dedent(payload))
    program.write_text(_PROGRAM.format(python=sys.executable, payload=str(lines)))
    program.chmod(0o755)
    return str(program)
