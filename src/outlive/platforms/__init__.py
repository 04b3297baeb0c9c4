"""WHAT IS DIFFERENT ON EACH OPERATING SYSTEM?

A platform is one package here, and nothing else of outlive names what only some systems have:

    posix/  features.py                    files and memory, for all of outlive
            for_meter.py    meter/         what the meters read
            for_process.py  process/       the calls of the program that starts workers
                            child/         the calls of child processes: standard library only, Python 3.8

A package that is named as `sys.platform` is chosen by its name; every other system is taken for POSIX.
Child processes load this file too, without outlive.
"""

import importlib
import os
import sys

PUBLIC_MODULES = ("posix.features",)  # for `system_features`

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), sys.platform)
NAME = sys.platform if os.path.isdir(_OWN) else "posix"


def load(module: str) -> "Any":
    """A module of the platform's package, by its name there."""
    return importlib.import_module("%s.%s.%s" % (__name__, NAME, module))


def offered(module: str) -> "dict[str, Any]":
    """All that a module of the platform's package offers, by name."""
    loaded = load(module)
    return {name: getattr(loaded, name) for name in loaded.__all__}
