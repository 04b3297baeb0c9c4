"""A thousand files on every engine: `python benchmarks/scan_scaling.py [--quick]`.

Files are made of the model corpus, or of the models that ship with outlive where there is none: the models
themselves, renamed copies, and mutants. They are scanned, run and diagnosed on processes here, on a Dask
LocalCluster and on local Ray: the tables must be the same. Then: an engine process is killed in the middle;
one job against two; and the memory of the process that coordinates, at 100 and at 10,000 files.

A mutant that makes LiteRT read where it may not is refused or kills its worker, by what happens to lie there.
Where the check has found the flaw in the file beforehand, that one difference is counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, finish

from outlive import demo_models

PACKAGES = ("outlive", "ai-edge-litert", "joblib", "distributed", "ray", "numpy")
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or Path(__file__).resolve().parents[2] / "shared")
# Larger models make the same point for more time.
_LARGEST = 2_000_000
_SMALL = 100_000
# What differs from run to run, or says which engine did it.
_VARIES = ("seconds", "host", "same_as", "from_cache")

PROGRAM = """
import json, resource, sys, time
import outlive
from pathlib import Path
order = json.loads(sys.argv[1])
killing = order.pop("kill", None)

def kill_one(tally, state=[]):
    if killing and not state and tally.done >= killing:
        import os, signal
        for listed in Path("/proc/self/task").glob("*/children"):
            for pid in listed.read_text().split():
                if not state and b"outlive.fleet.local_engine" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    state.append(os.kill(int(pid), signal.SIGKILL))

if __name__ == "__main__":
    begin = time.perf_counter()
    scan = outlive.scan(tell=kill_one, cache=False, **order)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak_bytes": peak, "outcomes": scan.tally.outcomes}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a scan came to: its table without what varies, and what it took."""

    seconds: float
    peak_bytes: int
    outcomes: Mapping[str, int]
    rows: Mapping[str, Any]


def sources() -> list[Path]:
    """The models that files are made of."""
    found = sorted((CORPUS / "models").glob("*.tflite"))
    found = [path for path in found if path.stat().st_size <= _LARGEST]
    return found or [demo_models.path(name) for name in demo_models.NAMES]


def make_files(folder: Path, count: int) -> None:
    """Models, copies of other names, and mutants: a fifth of the files are copies."""
    rng = random.Random(12)
    models = sources()
    small = [path for path in models if path.stat().st_size <= _SMALL]
    for number in range(count):
        source = models[number] if number < len(models) else rng.choice(small)
        content = source.read_bytes()
        kind = "model" if number < len(models) else "copy" if rng.random() < 0.2 else "mutant"
        if kind == "mutant":
            content = mutated(content, rng)
        (folder / f"{number:05}_{kind}_{source.name}").write_bytes(content)


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The model with some bytes changed: most in its latter half, where weights are, few in its tables."""
    changed = bytearray(content)
    start = len(changed) // 2 if rng.random() < 0.9 else 8
    for _ in range(rng.randint(1, 3)):
        changed[rng.randrange(start, len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed) + number_bytes(rng)


def number_bytes(rng: random.Random) -> bytes:
    """Bytes behind the model that nobody reads: no two mutants are the same file."""
    return rng.getrandbits(64).to_bytes(8, "little")


def scan(folder: Path, **wishes: Any) -> Done:
    """Scan in a process of its own; the table is read back afterwards."""
    with tempfile.TemporaryDirectory() as name:
        output = Path(name) / "rows.jsonl"
        order = {"paths": str(folder), "output": str(output), **wishes}
        script = Path(name) / "scan_once.py"  # engines import the main module: it has to be a file
        script.write_text(PROGRAM, encoding="utf-8")
        command = [sys.executable, str(script), json.dumps(order)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the scan failed:\n{done.stderr[-3000:]}")
        told = json.loads(done.stdout.splitlines()[-1])
        return Done(rows=dict(read_table(output)), **told)


def read_table(path: Path) -> Iterator[tuple[str, Any]]:
    """The rows by path, without what varies."""
    for line in path.read_bytes().splitlines():
        row = {name: value for name, value in json.loads(line).items() if name not in _VARIES}
        if row["run"] is not None:
            row["run"] = [output["sha256"] for output in row["run"]["outputs"]]
        yield row["path"], row


def unlike(one: Done, other: Done) -> tuple[list[str], list[str]]:
    """The files whose rows differ, and those known to be flawed that only failed in another way."""
    paths = sorted(one.rows.keys() | other.rows.keys())
    found = [path for path in paths if one.rows.get(path) != other.rows.get(path)]
    chance = [path for path in found if settled(one.rows.get(path)) == settled(other.rows.get(path))]
    return [path for path in found if path not in chance], chance


def settled(row: Any) -> Any:
    """A row without what is chance: how the runtime fails on a file that was found to be flawed."""
    if row is None or not row["errors"] or row["outcome"] not in ("refused", "died"):
        return row
    return {**row, "outcome": "failed", "death": {**(row["death"] or {}), "signal": None}}


def measure_engines(count: int) -> tuple[dict[str, Any], list[Claim]]:
    """The same files on every engine, and with a process killed in the middle."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, count)
        wishes = {"run": True, "repeat": 2, "seconds": 10.0, "jobs": 2}
        scans = {"local": scan(folder, **wishes)}
        show("local", scans["local"])
        scans["local, one process killed"] = scan(folder, kill=count // 3, **wishes)
        for engine in ("dask", "ray"):
            scans[engine] = scan(folder, on=f"{engine}://local", **wishes)
        claims, failed_otherwise = [], {}
        for other in list(scans)[1:]:
            show(other, scans[other])
            differing, failed_otherwise[other] = unlike(scans["local"], scans[other])
            for path in differing[:5]:
                print(
                    "  differs:",
                    path,
                    scans["local"].rows.get(path),
                    scans[other].rows.get(path),
                    sep="\n   ",
                )
            text = f"rows of {count} that differ between local and {other}"
            claims.append(Claim(text=text, ratio=len(differing), bound=0))
            lost = count - len(scans[other].rows)
            claims.append(Claim(text=f"rows of {count} that are missing: {other}", ratio=lost, bound=0))
    told = {name: seen(done) for name, done in scans.items()}
    for other, paths in failed_otherwise.items():
        told[other]["flawed_files_that_failed_in_another_way"] = [os.path.basename(path) for path in paths]
    return told, claims


def measure_jobs(count: int) -> tuple[dict[str, Any], list[Claim]]:
    """Files per second with one job and with two."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, count)
        found = {jobs: scan(folder, run=False, jobs=jobs) for jobs in (1, 2)}
    for jobs, done in found.items():
        show(f"{jobs} jobs", done)
    ratio = found[1].seconds / found[2].seconds
    claim = Claim(text="time of two jobs over time of one", ratio=1 / ratio, bound=0.75)
    return {f"{jobs} jobs": seen(done) for jobs, done in found.items()}, [claim]


def measure_memory(few: int, many: int) -> tuple[dict[str, Any], list[Claim]]:
    """The memory of the coordinating process, with few files and with many."""
    content = demo_models.path("healthy_int8").read_bytes()
    peaks = {}
    for count in (few, many):
        with tempfile.TemporaryDirectory() as name:
            for number in range(count):
                file = Path(name) / f"{number:05}.tflite"
                file.write_bytes(content + number.to_bytes(8, "little"))
            done = scan(Path(name), run=False, jobs=2)
            show(f"{count} files", done)
            peaks[count] = done.peak_bytes
    grown = (peaks[many] - peaks[few]) / 1e6
    claim = Claim(text=f"MB that the coordinator grows from {few} to {many} files", ratio=grown, bound=50)
    return {f"{count} files": {"peak_bytes": peak} for count, peak in peaks.items()}, [claim]


def seen(done: Done) -> dict[str, Any]:
    """What is written down of a scan."""
    rate = len(done.rows) / done.seconds
    return {
        "files": len(done.rows),
        "seconds": round(done.seconds, 1),
        "files_per_second": round(rate, 2),
        "coordinator_peak_bytes": done.peak_bytes,
        "outcomes": dict(done.outcomes),
    }


def show(what: str, done: Done) -> None:
    """A line about a scan."""
    told = seen(done)
    print(
        f"{what:28} {told['files']:6} files, {told['seconds']:7.1f} s, "
        f"{told['files_per_second']:6.1f} a second, "
        f"coordinator {done.peak_bytes / 1e6:.0f} MB, {told['outcomes']}",
        flush=True,
    )


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few files, no results written")
    quick = parser.parse_args().quick
    begin = time.monotonic()
    results: dict[str, Any] = {}
    claims: list[Claim] = []
    for part, (found, promised) in {
        "engines": measure_engines(60 if quick else 1000),
        "jobs": measure_jobs(60 if quick else 1000),
        "memory": measure_memory(100, 300 if quick else 10_000),
    }.items():
        results[part] = found
        claims += promised
    print(f"{time.monotonic() - begin:.0f} s in all")
    return finish("scan_scaling", PACKAGES, claims, results, quick=quick)


if __name__ == "__main__":
    raise SystemExit(main())
