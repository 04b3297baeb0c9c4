"""Fuzzes what reads hostile bytes, guided by coverage: python tools/fuzz_coverage.py [--minutes 10].

    parent ──> one process per target, one after the other: atheris (libFuzzer) changes inputs, keeps what
               reaches new lines of ours, and goes on from there

It begins with the files in tests/fuzz/corpus and what the tests make; `--corpus` is a folder that keeps what
it found for the next run. An input that fails is left in fuzz_failures/. Exit code 1 if one did; 0, in words,
where atheris is not to be had: it is made for Linux on x86-64 and Python up to 3.13.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))
FAILURES = REPOSITORY / "fuzz_failures"
SEEDS = REPOSITORY / "tests" / "fuzz" / "corpus"
_TIMEOUT_S, _MOST_MIB, _LONGEST_BYTES = 20, 2048, 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is fuzzed: the packages whose lines count, and the module of tests.fuzz that feeds them."""

    instrumented: tuple[str, ...]
    feeder: str


TARGETS = {
    "reader": Target(instrumented=("outlive.model",), feeder="tests.fuzz.reader"),
    "answers": Target(
        instrumented=(
            "outlive.process.answers",
            "outlive.interpreter.details",
            "outlive.platforms.posix.process.pipes",
        ),
        feeder="tests.fuzz.answers",
    ),
    "guard-frames": Target(
        instrumented=(
            "outlive.process.child.guard.plain_values",
            "outlive.process.child.guard.message_frames",
            "outlive.guarding",
        ),
        feeder="tests.fuzz.guard_frames",
    ),
}


def main() -> int:
    """Fuzz each target for its share of the time, or be the process that does."""
    args = _arguments()
    if args.inside:
        _fuzz(args.inside, args.rest)
        return 0
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed (it is for Linux on x86-64, Python up to 3.13): nothing is fuzzed")
        return 0
    names = args.target or list(TARGETS)
    codes = [_run(name, args.minutes * 60 / len(names), args.corpus) for name in names]
    return 1 if any(codes) else 0


def _run(name: str, seconds: float, corpus: Path | None) -> int:
    """One target in a process of its own; libFuzzer's exit code."""
    FAILURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="outlive-fuzz-") as folder:
        seeds, found = Path(folder) / "seeds", (corpus or Path(folder) / "found") / name
        seeds.mkdir()
        found.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(_seeds(name)):
            (seeds / f"{number:04}").write_bytes(data)
        words = [
            f"-max_total_time={int(max(1.0, seconds))}", f"-timeout={_TIMEOUT_S}",
            f"-rss_limit_mb={_MOST_MIB}", f"-max_len={_LONGEST_BYTES}",
            f"-artifact_prefix={FAILURES}/{name}-", "-print_final_stats=1", str(found), str(seeds),
        ]  # fmt: skip
        command = [sys.executable, __file__, "--inside", name, *words]
        done = subprocess.run(command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True, check=False)
    print(f"{name}: {_last_words(done.stderr, done.returncode)}", flush=True)
    return done.returncode


def _last_words(said: str, code: int) -> str:
    if code:
        return f"failed; see {FAILURES}\n{said[-4000:]}"
    lines = [
        line.removeprefix("stat::") for line in said.splitlines() if line.startswith(("stat::", "Done "))
    ]
    return "; ".join(" ".join(line.split()) for line in lines)


def _seeds(name: str) -> Iterator[bytes]:
    folder = SEEDS / name
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        yield path.read_bytes()
    yield from importlib.import_module(TARGETS[name].feeder).seeds()


def _fuzz(name: str, words: list[str]) -> None:
    """Instrument ours only, then hand over to libFuzzer, which ends this process."""
    atheris: Any = importlib.import_module("atheris")
    target = TARGETS[name]
    with atheris.instrument_imports(include=list(target.instrumented)):
        feeder: Any = importlib.import_module(target.feeder)
    try_one: Callable[[bytes], None] = feeder.try_one
    atheris.Setup([sys.argv[0], *words], try_one)
    atheris.Fuzz()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together (default: 10)")
    parser.add_argument("--target", action="append", choices=tuple(TARGETS), help="may be repeated")
    parser.add_argument("--corpus", type=Path, help="where inputs that reach new lines are kept")
    parser.add_argument("--inside", choices=tuple(TARGETS), help=argparse.SUPPRESS)
    args, rest = parser.parse_known_args()
    args.rest = rest
    if rest and not args.inside:
        parser.error(f"unknown: {' '.join(rest)}")
    return args


if __name__ == "__main__":
    sys.exit(main())
