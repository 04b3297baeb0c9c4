"""What autopsy tells people to paste, tried: python tools/check_remedies.py [--offline].

    packages   each requirement of a `pip install` in advice has a release for some Python
    code       each `python -c` compiles, and so does each statement of Python that advice shows
    names      each dotted name of NumPy, TensorFlow, Keras, outlive and the standard library exists

Nothing is installed. Lines for Gradle, CocoaPods and C++ are counted and not tried. `outlive` commands in
advice are run by tests/diagnosis/test_pasted_advice.py. Exit code 1 if something does not hold.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from outlive.diagnosis.messages import known_messages

# The Pythons that users of old and new packages have.
PYTHONS = ("3.12", "3.11", "3.9", "3.7")
# The others are tried for this system.
PLATFORMS = {"tensorflow-metal": "macosx_12_0_arm64"}
# Packages that their makers publish elsewhere than in the package index.
ELSEWHERE = frozenset({"pycoral"})
_INSTALL = re.compile(r"\bpip3? install ((?:[^;,()&|]|\[[^\]]*\])+)")
_REQUIREMENT = re.compile(r"^[A-Za-z][\w.-]*(?:\[[\w,-]+\])?(?:[<>=!~]=?[\w.*]+(?:,[<>=!~]=?[\w.*]+)*)?$")
# What ends a command in a sentence; what stands for something of the user's.
_PROSE = frozenset(
    {"in", "on", "under", "for", "and", "with", "if", "before", "restart", "brings", "or", "where"}
)
_PLACEHOLDER = re.compile(r"^[A-Z]+$|VERSION|\{")
_INLINE = re.compile(r"""python3? -c (?:'([^']+)'|"([^"]+)")""")
# Where a statement of Python begins in a sentence.
_STATEMENT = re.compile(r"(?:^|[:;,] )((?:converter|outlive|tf|np|keras)\.[\w.]+(?: = |\())")
_NAME = re.compile(r"\b(np|numpy|tf|keras|outlive|multiprocessing|os)((?:\.[A-Za-z_]\w+)+)")
# Names that advice gives for TensorFlow 1 only, and says so.
OF_TENSORFLOW_1 = frozenset(
    {
        "tf.disable_v2_behavior",
        "tf.keras.backend.set_learning_phase",
        "tf.lite.TFLiteConverter.from_keras_model_file",
    }
)
_MODULES = {"np": "numpy", "tf": "tensorflow"}
_NOT_TRIED = re.compile(r"\bimplementation '|\bpod '|alignas\(|ndk \{|androidResources")


def advice() -> list[str]:
    """Every step of the tables."""
    return [step for row in known_messages() for step in (*row.do, row.undo) if step]


def requirements(steps: Iterable[str]) -> set[str]:
    """What the steps tell people to install."""
    return {item for step in steps for command in _INSTALL.findall(step) for item in _items(command)}


def _items(command: str) -> Iterator[str]:
    words = command.split()
    for before, word in zip(["", *words], words, strict=False):
        bare = word.strip("'\"`.:")
        if word in _PROSE:
            return
        if before.startswith("--") and ("url" in before or before in ("--only-binary", "--default-timeout")):
            continue
        if not bare.startswith("-") and not _PLACEHOLDER.search(bare) and _REQUIREMENT.match(bare):
            yield bare


@functools.cache
def _releases(name: str, python: str) -> tuple[Version, ...]:
    command = [
        sys.executable,
        "-m",
        "pip",
        "index",
        "versions",
        name,
        "--python-version",
        python,
        "--no-color",
    ]
    platform = ["--platform", PLATFORMS[name]] if name in PLATFORMS else []
    done = subprocess.run(
        [*command, *platform, "--only-binary", ":all:"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = re.search(r"Available versions: (.+)", done.stdout)
    return tuple(_versions(found[1].split(", "))) if found else ()


def _versions(texts: Iterable[str]) -> Iterator[Version]:
    for text in texts:
        try:
            yield Version(text)
        except InvalidVersion:
            continue


def missing(requirement: str) -> str:
    """Why a requirement cannot be installed anywhere; empty if it can."""
    try:
        wanted = Requirement(requirement)
    except InvalidRequirement as error:
        return f"{requirement}: {error}"
    if wanted.name in ELSEWHERE:
        return ""
    for python in PYTHONS:
        if any(wanted.specifier.contains(release) for release in _releases(wanted.name, python)):
            return ""
    return f"{requirement}: no release of it for Python {', '.join(PYTHONS)}"


def broken_code(steps: Iterable[str]) -> Iterator[str]:
    """Code in advice that is no Python; what follows a statement in its sentence is no part of it."""
    for step in steps:
        inline = [first or second for first, second in _INLINE.findall(step)]
        begun = [(step[found.start(1) :], len(found[1])) for found in _STATEMENT.finditer(step)]
        yield from (code for code in inline if not _is_python(code))
        yield from (code for code, least in begun if not any(map(_is_python, _beginnings(code, least))))


def _beginnings(code: str, least: int) -> Iterator[str]:
    ends = re.compile(r"[)\]\w'\"](?=[ ,;]|$)").finditer(code, least)
    yield from (code[: found.end()] for found in ends)


def _is_python(code: str) -> bool:
    try:
        ast.parse(re.sub(r"\{\w+\}", "x", code))
    except SyntaxError:
        return False
    return True


def unknown_names(steps: Iterable[str]) -> Iterator[str]:
    """Dotted names of installed modules that do not exist."""
    for root, rest in sorted({found for step in steps for found in _NAME.findall(step)}):
        name = f"{root}{rest}"
        if name not in OF_TENSORFLOW_1 and not _exists(_MODULES.get(root, root), rest[1:].split(".")):
            yield name


def _exists(module: str, names: list[str]) -> bool:
    place = importlib.import_module(module)
    for name in names:
        if not hasattr(place, name):
            return False
        place = getattr(place, name)
        if not isinstance(place, type) and not hasattr(place, "__name__"):
            return True  # a value: what it has is known only where the program runs
    return True


def main() -> int:
    """Try everything, and print what does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--offline", action="store_true", help="do not ask the package index")
    offline = parser.parse_args().offline
    steps = advice()
    packages = sorted(requirements(steps))
    wrong = [*broken_code(steps), *unknown_names(steps)]
    wrong += [] if offline else filter(None, map(missing, packages))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    left = sum(bool(_NOT_TRIED.search(step)) for step in steps)
    print(f"{len(steps)} steps, {len(packages)} requirements, {left} steps for other tools not tried")
    print(f"{len(wrong)} do not hold" if wrong else "All hold.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
