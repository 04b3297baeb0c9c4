"""`outlive scan --run` over a folder of damaged models, with few descriptors: every row is judged.

    python -m tests.faults.mutant_scan FOLDER [--files 2000] [--descriptors 256] [--seconds N]

Nine files in ten are mutants; file N follows from seed N alone. The rows are in FOLDER/rows.jsonl, and a scan
that was cut off goes on there. Prints one JSON object; exit code 1 if a row is a bug of ours or of a lost
process, 75 if time limit reached.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.properties.mutations import Mutator
from tests.properties.specimens import shipped_models, specimens

GOES_ON = 75  # EX_TEMPFAIL of sysexits.h
HEALTHY_EVERY = 10
CALL_S = 5
STOPPING_S = 300
_OUTLIVE = "import sys; from outlive.cli.main import main; sys.exit(main(sys.argv[1:]))"


def make_models(folder: Path, count: int) -> None:
    """The files that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    mutator, healthy = Mutator(list(specimens())), shipped_models()
    for seed in range(count):
        path = folder / f"{seed:05}.tflite"
        if not path.exists():
            whole = seed % HEALTHY_EVERY == 0
            data = healthy[seed // HEALTHY_EVERY % len(healthy)] if whole else mutator.mutant(seed).data
            path.write_bytes(data)


def scan(folder: Path, descriptors: int, seconds: float | None) -> bool:
    """Scan with so many descriptors in every process; False if time limit reached first."""
    command = [
        "sh", "-c", f'ulimit -n {descriptors} && exec "$@"', "sh",
        sys.executable, "-c", _OUTLIVE, "scan", str(folder / "models"), "--run", "--no-cache",
        "--seconds", str(CALL_S), "--resume", "-o", str(folder / "rows.jsonl"), "--format", "json",
    ]  # fmt: skip
    with (folder / "said").open("ab") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOPPING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return False
    return True


def judge(folder: Path, count: int) -> dict[str, Any]:
    """What the rows say."""
    rows = {}
    path = folder / "rows.jsonl"
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        row = json.loads(line)
        if row.get("kind") == "scan-row":
            rows[row["name"]] = row
    bad = [
        row
        for row in rows.values()
        if row["outcome"] in ("failed", "lost") or "bug of outlive" in row["note"]
    ]
    return {
        "files": count,
        "seeds": [0, count],
        "rows": len(rows),
        "outcomes": dict(Counter(row["outcome"] for row in rows.values()).most_common()),
        "bad": [f"{row['name']}: {row['outcome']}: {row['note']}" for row in bad[:20]],
    }


def main() -> int:
    """Make the files, scan them, judge the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--descriptors", type=int, default=256)
    parser.add_argument("--seconds", type=float, help="stop after so many; the next run goes on")
    args = parser.parse_args()
    make_models(args.folder / "models", args.files)
    ended = scan(args.folder, args.descriptors, args.seconds)
    seen = {**judge(args.folder, args.files), "descriptors": args.descriptors}
    print(json.dumps(seen), flush=True)
    if seen["bad"] or (ended and seen["rows"] < args.files):
        return 1
    return 0 if ended else GOES_ON


if __name__ == "__main__":
    os.environ.pop("OUTLIVE_CACHE", None)
    sys.exit(main())
