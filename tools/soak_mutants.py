"""Damaged models through the verbs, by the hundred thousand: python tools/soak_mutants.py --verb read.

    parent ──> child 1: "read 4000 500" ──> mutant 4000, read and check it; mutant 4001 ...
       │  └──> child 2: ...                 bounded in memory (RLIMIT_AS) and time (alarms)
       └── a child that dies or hangs is started anew behind the mutant that did it, and that is a failure

A mutant follows from its seed and the models alone. Runs add up: each goes on where the last one for the same
verb and models ended, after it has tried the failures of earlier runs again. Counts, seeds, versions and
failures are in benchmarks/results/mutants.json. Exit code 1 if there is a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import select
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from tests.properties.attempts import VERBS, attempt, handed_over  # noqa: E402
from tests.properties.mutations import Mutator  # noqa: E402
from tests.properties.specimens import specimens  # noqa: E402

RESULTS = REPOSITORY / "benchmarks" / "results" / "mutants.json"
PACKAGES = ("outlive", "ai-edge-litert", "numpy")
# What one mutant may take of a CPU: a busy machine is no failure. Workers have limits of their own.
SECONDS = {"read": 5.0, "plan": 10.0, "cut": 5.0, "run": 10.0}
_TIMES_WAITED = 12  # and how many times that it may take in all
GROWTH_BYTES = 300_000_000  # beyond what `run` has to hand over
HANDED_OVER = "of run: twice the model's own inputs and outputs (an array and the worker's block)"
_ADDRESS_SPACE_BYTES = 8 << 30
_GRACE_S = 20.0  # an alarm is heard between two steps of Python; after this the child is stuck in one
_BLOCK = {"read": 500, "plan": 100, "cut": 200, "run": 25}
_LARGEST_MODEL_BYTES = 150_000
_KEPT_TRACE = 2000


class TooLong(BaseException):
    """The alarm rang; not an Exception, so that nothing on the way takes it for its own."""


@dataclass
class Tally:
    """How a block of mutants ended: a count for each word, and the failures."""

    ends: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)


def main() -> int:
    """Soak, or be the child that does."""
    args = _arguments()
    models = _models(args.files)
    if args.child:
        _serve(models)
        return 0
    verbs, stop_at = args.verb or list(VERBS), time.monotonic() + args.minutes * 60
    with closing(Soak(models, args.files, args.results, args.jobs)) as soak:
        for verb in verbs:
            soak.retry(verb)
            soak.go_on(verb, args.count, stop_at)
        return soak.summarize(verbs)


class Soak:
    """The parent's side: gives out blocks of seeds, and adds up what comes back."""

    def __init__(self, models: list[bytes], files: list[Path], results: Path, jobs: int) -> None:
        """Read what earlier runs found, and make places for children, which start when they are needed."""
        self._results, self._jobs = results, jobs
        self._models = {"count": len(models), "sha256": _digest(models)}
        self._document = json.loads(results.read_text("utf-8")) if results.exists() else {"verbs": {}}
        self._children = [Child(files) for _ in range(jobs)]
        self._idle: SimpleQueue[Child] = SimpleQueue()
        for child in self._children:
            self._idle.put(child)

    def close(self) -> None:
        """End the children."""
        for child in self._children:
            child.close()

    def retry(self, verb: str) -> None:
        """Try earlier failures with these models again; those that are mended are dropped."""
        row = self._row(verb)
        ends, again = Counter(row["ends"]), []
        for old in row["failures"]:
            tally = self._block(verb, range(old["seed"], old["seed"] + 1))
            again += tally.failures
            if ends[old["end"]]:
                ends += tally.ends
                ends[old["end"]] -= 1
        row["ends"], row["failures"] = dict((+ends).most_common()), again
        self._save()

    def go_on(self, verb: str, count: int, stop_at: float) -> None:
        """Try the next `count` mutants; the results are whole after each block."""
        row = self._row(verb)
        blocks = _blocks(row["next_seed"], count, _BLOCK[verb], stop_at)
        with ThreadPoolExecutor(self._jobs) as pool:
            waiting = []
            for block in blocks:
                waiting.append((block, pool.submit(self._block, verb, block)))
                if len(waiting) > self._jobs:
                    self._add(verb, row, *waiting.pop(0))
            for block, future in waiting:
                self._add(verb, row, block, future)

    def summarize(self, verbs: list[str]) -> int:
        """Say what was found; the exit code."""
        rows = [self._row(verb) for verb in verbs]
        for verb, row in zip(verbs, rows, strict=True):
            print(f"{verb}: {row['count']:,} mutants, {len(row['failures'])} failures; {row['ends']}")
            for what, times in Counter(failure["what"] for failure in row["failures"]).most_common():
                print(f"  {times} x {what}")
        return 1 if any(row["failures"] for row in rows) else 0

    def _row(self, verb: str) -> dict[str, Any]:
        """The results for this verb and these models."""
        rows = self._document["verbs"].setdefault(verb, [])
        for row in rows:
            if row["models"] == self._models:
                return row  # type: ignore[no-any-return]
        rows.append({"models": self._models, "next_seed": 0, "count": 0, "ends": {}, "failures": []})
        return rows[-1]  # type: ignore[no-any-return]

    def _block(self, verb: str, seeds: range) -> Tally:
        child = self._idle.get()
        try:
            return child.try_all(verb, seeds)
        finally:
            self._idle.put(child)

    def _add(self, verb: str, row: dict[str, Any], block: range, future: Any) -> None:
        tally: Tally = future.result()
        row["next_seed"], row["count"] = block.stop, row["count"] + len(block)
        row["ends"] = dict((Counter(row["ends"]) + tally.ends).most_common())
        row["failures"] += tally.failures
        self._save()
        for failure in tally.failures:
            print(f"\n{verb} {failure['seed']}: {failure['what']}")
        print(f"\r{verb}: {row['count']:,} mutants, {len(row['failures'])} failures ", end="", flush=True)

    def _save(self) -> None:
        self._document |= {
            "benchmark": "mutants",
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
            "packages": {package: version(package) for package in PACKAGES},
            "bounds": {
                "seconds": SECONDS,
                "growth_bytes": GROWTH_BYTES,
                "beyond": HANDED_OVER,
            },
        }
        fresh = self._results.with_suffix(".new")
        fresh.write_text(json.dumps(self._document, indent=1) + "\n", encoding="utf-8")
        fresh.replace(self._results)


class Child:
    """A process that tries mutants; it starts when it is first needed, and anew after it was lost."""

    def __init__(self, files: list[Path]) -> None:
        """Remember how it is started."""
        self._command = [sys.executable, str(Path(__file__).resolve()), "--child", *map(str, files)]
        self._process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """End it; at the end of its orders it goes by itself."""
        if self._process is not None:
            with self._process as process:
                process.kill()

    def try_all(self, verb: str, seeds: range) -> Tally:
        """All mutants of a block, whatever becomes of the process on the way."""
        tally, start = Tally(), seeds.start
        while start < seeds.stop:
            process = self._running()
            assert process.stdin is not None
            process.stdin.write(f"{verb} {start} {seeds.stop - start}\n".encode())
            start, problem = self._listen(process, tally, start, _TIMES_WAITED * SECONDS[verb] + _GRACE_S)
            if problem:
                tally.ends["lost"] += 1
                tally.failures.append({"seed": start, "end": "lost", "what": problem, "trace": ""})
                start += 1
        return tally

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            environment = {**os.environ, "PYTHONHASHSEED": "0"}
            # Without a buffer, or lines would wait in it while `select` sees nothing.
            self._process = subprocess.Popen(
                self._command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=REPOSITORY,
                env=environment,
            )
        return self._process

    def _listen(
        self, process: subprocess.Popen[bytes], tally: Tally, at: int, timeout_s: float
    ) -> tuple[int, str]:
        """Add what the child says until it is done; the seed it would try next, or the one that took it."""
        assert process.stdout is not None
        while True:
            ready, _, _ = select.select([process.stdout], [], [], timeout_s)
            line = process.stdout.readline() if ready else b""
            if not line:
                self.close()
                code, self._process = process.returncode, None
                return at, f"the process died with {code}" if ready else f"no end after {timeout_s:g} s"
            said = json.loads(line)
            if "done" in said:
                return said["done"], ""
            at = said["seed"] + 1
            tally.ends[said["end"]] += 1
            if said["end"] == "failure":
                tally.failures.append(said)


def _serve(models: list[bytes]) -> None:
    """The child's side: an order a line, an answer for each mutant."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE_BYTES, resource.RLIM_INFINITY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent; the pipe's end ends us
    signal.signal(signal.SIGALRM, _ring)
    signal.signal(signal.SIGPROF, _ring)
    warnings.simplefilter("error")
    mutator, answers = Mutator(models), os.dup(1)
    os.dup2(2, 1)  # whatever else is printed is no answer
    for line in sys.stdin:
        verb, first, count = line.split()
        for seed in range(int(first), int(first) + int(count)):
            # Every other one has a sound layout, or few would get past the reader.
            mutant = mutator.impostor(seed) if seed % 2 else mutator.mutant(seed)
            said = {"seed": seed, **_try(verb, mutant.data, seed)}
            os.write(answers, json.dumps(said).encode() + b"\n")
        os.write(answers, json.dumps({"done": int(first) + int(count)}).encode() + b"\n")


def _ring(*_: object) -> None:
    raise TooLong


def _try(verb: str, data: bytes, seed: int) -> dict[str, str]:
    """How it ended in a word; for a failure also what it was and where."""
    before = _forget_peak()
    _set_alarms(SECONDS[verb])
    try:
        end = attempt(verb, data, seed)
    except (Exception, TooLong) as error:
        _set_alarms(0.0)
        return {"end": "failure", "what": _name(error), "trace": traceback.format_exc()[-_KEPT_TRACE:]}
    _set_alarms(0.0)
    grown = _status("VmHWM") - before
    if grown > GROWTH_BYTES and (verb != "run" or grown > GROWTH_BYTES + handed_over(data)):
        return {"end": "failure", "what": f"took {grown >> 20:,} MiB", "trace": ""}
    return {"end": end}


def _set_alarms(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, _TIMES_WAITED * seconds)


def _name(error: BaseException) -> str:
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "/outlive/" in frame.filename]
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "elsewhere"
    words = " ".join(str(error).split())[:120]
    return f"{type(error).__name__} at {place}" + (f": {words}" if words else "")


def _forget_peak() -> int:
    """Let the high-water mark of resident memory begin anew (proc(5), clear_refs); what it is now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{key}:"))


def _blocks(first: int, count: int, size: int, stop_at: float) -> Iterator[range]:
    for start in range(first, first + count, size):
        if time.monotonic() > stop_at:
            return
        yield range(start, min(start + size, first + count))


def _digest(models: list[bytes]) -> str:
    return sha256(b"".join(sha256(data).digest() for data in models)).hexdigest()


def _models(files: list[Path]) -> list[bytes]:
    """The specimens of the tests, and small models in these files and folders."""
    found = [path for file in files for path in (sorted(file.rglob("*.tflite")) if file.is_dir() else [file])]
    given = [path.read_bytes() for path in found if 8 <= path.stat().st_size <= _LARGEST_MODEL_BYTES]
    return [*specimens(), *given]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="more models, or folders of them")
    parser.add_argument("--verb", action="append", choices=tuple(VERBS), help="may be repeated; default: all")
    parser.add_argument("--count", type=int, default=10_000, help="mutants for each verb (default: 10,000)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin nothing after this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: all CPUs)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="what adds up over runs")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
