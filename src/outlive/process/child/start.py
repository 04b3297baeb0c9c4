"""The program that a child process runs: loads the files beside it without loading outlive itself.

    python start.py nursery|worker ARGUMENTS(JSON)

The files are loaded as a package named `outlive_child`, so that they can import each other, in whatever
Python environment this runs; nothing of outlive above this folder is touched.
"""

import importlib.util
import json
import os
import sys


def load(folder: str) -> None:
    """Make the folder importable as the package `outlive_child`."""
    spec = importlib.util.spec_from_file_location(
        "outlive_child", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["outlive_child"] = package
    spec.loader.exec_module(package)


def main() -> None:
    """Become a nursery or a worker."""
    folder = os.path.dirname(os.path.abspath(__file__))
    # The folder of the script comes first on sys.path; our names must not hide anybody's modules.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder]
    role, arguments = sys.argv[1], json.loads(sys.argv[2])
    sys.path += [entry for entry in arguments.pop("sys_path") if entry not in sys.path]
    load(folder)
    importlib.import_module("outlive_child.operating_system").own_process.be_plain()
    module = importlib.import_module("outlive_child." + role)
    module.main(**arguments)


if __name__ == "__main__":
    main()
