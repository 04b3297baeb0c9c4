"""Throws damaged models at the reader: python tools/fuzz_reader.py --minutes 10 [--seed N] [FILES or DIRS].

With `--through check` they go through every rule and every way to tell what was found as well; with
`--through judge` every way such a model may end is judged; with `--through diagnose` they are diagnosed for
real, in workers of their own.

    parent ──> worker 1: mutant, read it all, say it all, next mutant ...
       │  └──> worker 2: ...
       └── once a second: has one died, hung or grown? Its mutant goes to fuzz_failures/, and it starts anew.

Mutants follow from a number alone, so a worker only tells which number it is at. Without FILES the specimens
of the tests are damaged. Ctrl-C ends it early. Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable
from ctypes import c_double, c_int64
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from outlive.model import Reading, read_source  # noqa: E402
from tests.properties.judging import check_and_say, diagnose_and_say, judge_ends  # noqa: E402
from tests.properties.mutations import Mutator  # noqa: E402
from tests.properties.specimens import specimens  # noqa: E402
from tests.properties.trial import allowed_bytes, measure  # noqa: E402
from tests.properties.visiting import read_everything, say_json, say_text  # noqa: E402

FAILURES = REPOSITORY / "fuzz_failures"
# Longer than a mutant may take, by what is done with it; a diagnosis ends itself after some seconds a trial.
HANG_S = {"read": 20.0, "check": 30.0, "judge": 60.0, "diagnose": 120.0}
_ADDRESS_SPACE_BYTES = 4 << 30
_RESIDENT_GROWTH_KIB = 4096  # worth a second, measured look
_MEASURE_EVERY, _DRAW_EVERY, _JSON_EVERY = 64, 32, 4
_DRAWN_ROWS = 500
_LARGEST_MODEL_BYTES = 1_000_000


@dataclass
class Post:
    """What parent and worker share: the number being tried, since when, and how many are done."""

    number: Any = field(default_factory=lambda: multiprocessing.Value(c_int64, -1, lock=False))
    since: Any = field(default_factory=lambda: multiprocessing.Value(c_double, 0.0, lock=False))
    done: Any = field(default_factory=lambda: multiprocessing.Value(c_int64, 0, lock=False))


@dataclass
class Worker:
    """A worker process, and the end of the pipe on which it tells failures."""

    process: multiprocessing.process.BaseProcess
    post: Post
    pipe: Connection


def main() -> int:
    """Fuzz until the time is up or the user has seen enough."""
    args = _arguments()
    models = _models(args.files)
    if not models:
        print(f"no model of up to {_LARGEST_MODEL_BYTES:,} bytes there", file=sys.stderr)
        return 2
    print(f"{len(models)} models, seed {args.seed}, {args.workers} workers, {args.minutes:g} minutes")
    fuzz = Fuzz(models, args.seed, args.workers, args.through)
    try:
        fuzz.run(args.minutes * 60)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not spoil the summary
        print()
    finally:
        fuzz.stop()
    fuzz.summarize()
    return 1 if fuzz.failures else 0


class Fuzz:
    """The parent's side."""

    def __init__(self, models: list[bytes], seed: int, workers: int, through: str = "read") -> None:
        """Start the workers; each takes every n-th number from the seed on."""
        self.through = through
        self.models, self.stride, self.started = models, workers, time.monotonic()
        self.mutator = Mutator(models)
        self.failures: Counter[str] = Counter()
        self.done_before = 0
        self.workers = [self._start(seed + index) for index in range(workers)]

    def run(self, seconds: float) -> None:
        """Watch the workers and show progress once a second."""
        while time.monotonic() - self.started < seconds:
            time.sleep(1)
            for index, worker in enumerate(self.workers):
                self.workers[index] = self._watched(worker)
            print(f"\r{self._progress()}", end="", flush=True)
        print()

    def stop(self) -> None:
        """End the workers."""
        for worker in self.workers:
            self._hear(worker)
            worker.process.kill()
            worker.process.join()

    def summarize(self) -> None:
        """Print what was found."""
        print(self._progress())
        for what, count in self.failures.most_common():
            print(f"  {count} x {what}")
        if self.failures:
            print(f"the first of each is in {FAILURES}")

    def _start(self, number: int) -> Worker:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        post = Post()
        arguments = (self.models, number, self.stride, post, theirs, self.through)
        process = multiprocessing.get_context("fork").Process(target=_work, args=arguments, daemon=True)
        process.start()
        theirs.close()
        return Worker(process, post, ours)

    def _watched(self, worker: Worker) -> Worker:
        """The worker, or the one that takes its place."""
        self._hear(worker)
        number, post = worker.post.number.value, worker.post
        waited_s = time.monotonic() - post.since.value if number >= 0 else 0.0
        if worker.process.is_alive() and waited_s < HANG_S[self.through]:
            return worker
        if worker.process.is_alive():
            self._fail(number, f"no end after {HANG_S[self.through]:g} s")
        else:
            self._fail(number, f"the process died with {worker.process.exitcode}")
        worker.process.kill()
        worker.process.join()
        self.done_before += post.done.value
        return self._start(max(number, 0) + self.stride)

    def _hear(self, worker: Worker) -> None:
        try:
            while worker.pipe.poll():
                number, what, details = worker.pipe.recv()
                self._fail(number, what, details)
        except EOFError:
            return

    def _fail(self, number: int, what: str, details: str = "") -> None:
        self.failures[what] += 1
        if self.failures[what] > 1 or number < 0:
            return
        mutant = self.mutator.mutant(number)
        FAILURES.mkdir(exist_ok=True)
        path = FAILURES / f"{sha256(mutant.data).hexdigest()[:12]}.tflite"
        path.write_bytes(mutant.data)
        path.with_suffix(".txt").write_text(
            f"{what}\nnumber {number}: {mutant.how}\n\n{details}", encoding="utf-8"
        )
        print(f"\n{what}: {path}")

    def _progress(self) -> str:
        done = self.done_before + sum(worker.post.done.value for worker in self.workers)
        elapsed_s = time.monotonic() - self.started
        rate = done / elapsed_s if elapsed_s else 0.0
        failures = sum(self.failures.values())
        return f"{elapsed_s:5.0f} s  {done:,} mutants, {rate:.0f} per second, {failures} failures "


def _work(models: list[bytes], number: int, stride: int, post: Post, pipe: Connection, through: str) -> None:
    """The worker's side: try one number after the other, and tell what should not happen."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    if through != "diagnose":  # the runtime in its workers has limits of its own
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE_BYTES, _ADDRESS_SPACE_BYTES))
    warnings.simplefilter("error")
    mutator = Mutator(models)
    while True:
        post.since.value, post.number.value = time.monotonic(), number
        data = mutator.mutant(number).data
        for what, details in _try(data, post.done.value, number, through):
            pipe.send((number, what, details))
        post.done.value += 1
        number += stride


def _try(data: bytes, turn: int, number: int, through: str) -> Iterable[tuple[str, str]]:
    """What goes wrong with this mutant: nothing, one would hope."""
    try:
        if through == "check":
            yield from ((f"rule failed: {failed}", "") for failed in check_and_say(data))
        elif through == "judge":
            judge_ends(data, number)
        elif through == "diagnose":
            diagnose_and_say(data)
        if through != "read":
            return
        before = _resident_kib()
        reading = read_source(data)
        grew = _resident_kib() - before > _RESIDENT_GROWTH_KIB
        if grew or turn % _MEASURE_EVERY == 0:
            yield from _memory_excess(data)
        read_everything(data)
        if turn % _JSON_EVERY == 0:
            say_json(data, reading)
        if turn % _DRAW_EVERY == 0 and _is_short(reading):
            say_text(data, reading)
    except Exception as error:
        ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "outlive" in frame.filename]
        place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "elsewhere"
        yield f"{type(error).__name__} at {place}", traceback.format_exc()


def _is_short(reading: Reading) -> bool:
    """Drawing takes milliseconds for each row, so long lists would drown the rest."""
    graphs = reading.model.subgraphs if reading.model else ()
    return sum(1 + len(graph.tensors) + len(graph.operators) for graph in graphs) <= _DRAWN_ROWS


def _memory_excess(data: bytes) -> Iterable[tuple[str, str]]:
    _, peak_bytes = measure(data)
    if peak_bytes > allowed_bytes(data):
        yield "more memory than allowed", f"{peak_bytes:,} bytes for a file of {len(data):,}"


def _resident_kib() -> int:
    """The most memory this process ever had: bytes on macOS, KiB elsewhere; good enough for a first look."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _models(files: list[Path]) -> list[bytes]:
    if not files:
        return list(specimens())
    found = [path for file in files for path in (sorted(file.rglob("*.tflite")) if file.is_dir() else [file])]
    return [path.read_bytes() for path in found if 8 <= path.stat().st_size <= _LARGEST_MODEL_BYTES]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="models, or folders of them")
    parser.add_argument(
        "--through", choices=tuple(HANG_S), default="read", help="what is done with each mutant"
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="where to start (default: the time)"
    )
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes (default: all CPUs)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
