"""Makes all calls with the Interpreter of a module, and writes what came of each as a pickle.

`python -m tests.interpreter.dropin_ask MODULE FOLDER OUTPUT`, in a process of its own: it loads LiteRT.
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
from pathlib import Path

from tests.interpreter import dropin_calls, dropin_tensor_calls  # noqa: F401  they enter their calls
from tests.interpreter.dropin_shop import CALLS, Shop


def main() -> None:
    """Make all calls."""
    module, folder, output = importlib.import_module(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    os.chdir(folder)
    shop = Shop(module.Interpreter, folder)
    Path(output).write_bytes(pickle.dumps({name: shop.outcome(call) for name, call in CALLS.items()}))


if __name__ == "__main__":
    main()
