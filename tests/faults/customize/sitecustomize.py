"""What every Python of a trial does first: see `tests/faults/shim.py`."""

import importlib.util
import os
import sys

if os.environ.get("OUTLIVE_TEST_FAULTS"):
    _spec = importlib.util.spec_from_file_location(
        "outlive_faults_shim", os.path.join(os.path.dirname(os.path.dirname(__file__)), "shim.py")
    )
    _shim = importlib.util.module_from_spec(_spec)
    sys.modules["outlive_faults_shim"] = _shim
    _spec.loader.exec_module(_shim)
    _shim.board = _shim.install()
