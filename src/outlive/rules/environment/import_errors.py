"""What the text of a failed import gives away: which of the rules on it has something to say."""

from __future__ import annotations

import re

from outlive.finding import Evidence, Fault, Remedy, Sighting

# What to install for which import; LiteRT is the runtime if nothing else is asked for.
PACKAGES = {
    "tensorflow": "tensorflow",
    "tflite_runtime": "tflite-runtime",
    "ai_edge_quantizer": "'outlive[quantize]'",
}
# What modules that were built for numpy 1 say beside numpy 2; those built for it look in numpy._core.
_NUMPY = re.compile(
    r"compiled using NumPy 1|_ARRAY_API not found|numpy\.core\.(multiarray|umath) failed to import"
)
# The dynamic loader of glibc (elf/dl-version.c, elf/dl-load.c).
_VERSION = re.compile(r"version [`'](?P<wanted>(GLIBC|GLIBCXX|CXXABI)_[0-9.]+)' not found")
_LIBRARY = re.compile(r"(?P<library>[\w.+-]+\.so[\w.]*): cannot open shared object file")


def sight_absence(absence: str, why: str, *remedies: Remedy, first: str = "") -> Sighting:
    """One sighting of a runtime that cannot be imported; `first` is what the loader says is missing."""
    missing = (Evidence(first, "loader"),) if first else ()
    evidence = (*missing, Evidence(absence, "import"))
    return Sighting(where="worker", evidence=evidence, why=why, remedies=remedies, fault=Fault.MACHINE)


def numpy_mismatch(absence: str) -> bool:
    """True if the runtime was built for numpy 1 and finds numpy 2."""
    return _NUMPY.search(absence) is not None


def missing_version(absence: str) -> str:
    """The version of the C or C++ library that the runtime wants; empty if that is not what is missing."""
    found = _VERSION.search(absence)
    return found["wanted"] if found else ""


def missing_library(absence: str) -> str:
    """The library that is not there; empty if it is not that."""
    found = _LIBRARY.search(absence)
    return found["library"] if found else ""


def own_rule(absence: str) -> bool:
    """True if a rule of its own tells this reason."""
    return numpy_mismatch(absence) or bool(missing_version(absence) or missing_library(absence))
