"""What LiteRT's own execution plan shows, told by a delegate that takes nothing and looks (mood "spies").

Run as a program of its own: `python execution_plan.py LIBRARY`, a path a line on stdin.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

from ai_edge_litert.interpreter import Interpreter, load_delegate


def shown(library: str, path: str) -> dict[str, Any]:
    """The operators that delegates stand for in the plan of the main subgraph, partition by partition."""
    try:
        interpreter = Interpreter(model_path=path)
        interpreter.allocate_tensors()
    except (RuntimeError, ValueError) as error:
        return {"error": str(error)[:200]}
    spy = load_delegate(library, {"mood": "spies"})
    with tempfile.TemporaryFile() as heard:
        kept = os.dup(2)
        os.dup2(heard.fileno(), 2)
        try:
            interpreter._interpreter.ModifyGraphWithDelegate(spy._get_native_delegate_pointer())
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        heard.seek(0)
        lines = heard.read().decode().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("plan"))
    taken = []
    for line in lines[start + 1 :]:
        if line.startswith("plan"):  # the next subgraph
            break
        if line.startswith("took"):
            taken.append([int(word) for word in line.split()[1:]])
    return {"taken": taken}


def main() -> None:
    """Answer until stdin ends."""
    for line in sys.stdin:
        print(json.dumps(shown(sys.argv[1], line.rstrip("\n"))), flush=True)


if __name__ == "__main__":
    main()
