"""TensorFlow's deaths inside outlive.guard: `python benchmarks/tensorflow_deaths.py [--only NUMBER ...]`.

Each TensorFlow case of the crash corpus is run by a caller of its own, in `outlive.guard`. Does the caller
live and get an answer, is the cause right, is anything left behind? A case that does not strike here
(its kernels differ from one processor to another) is listed and not counted among the causes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from case_words import cause_of
from side_by_side import Claim, write_results

REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared")
PACKAGES = ("outlive", "tensorflow-cpu", "numpy")
SECONDS = 30
# The corpus's words for causes in TensorFlow, as the taxonomy has them.
_WORDS = {
    "tf-check-rank": "tf-check-failed",
    "tf-oob-index": "tf-out-of-bounds",
    "quant-debugger": "representative-dataset",
}
_CALLER = """
import json, runpy, sys
import outlive

def warm():
    import tensorflow

def case(path):
    runpy.run_path(path, run_name="__main__")

end, cause, where = "ok", "", ""
outlive.guard(warm)()  # a busy machine takes longer to load it than a case may take
try:
    outlive.guard(case, seconds=float(sys.argv[2]), memory="8GB")(sys.argv[1])
except BaseException as error:
    end = type(error).__name__
    told = outlive.diagnose(error)
    cause, where = told.cause, told.verdict.where
print("RESULT " + json.dumps([end, cause, where]))
"""


def run_case(folder: Path) -> dict[str, Any]:
    """How a caller fared that ran the case: its end, the cause it was told, what it left behind."""
    command = [sys.executable, "-c", _CALLER, str(folder / "repro.py"), str(SECONDS)]
    blocks = set(os.listdir("/dev/shm"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=folder)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    end, cause, where = json.loads(lines[-1][7:]) if lines else ("caller died", "", "")
    left = len(_orphans(set(os.listdir("/dev/shm")) - blocks)) + _running(str(folder))
    where = where.replace(f"{folder}{os.sep}", "")
    return {"end": end, "cause": cause, "where": where, "lived": bool(lines), "left": left}


def _orphans(names: set[str]) -> set[str]:
    """Those of some shared blocks that no process has mapped: the others belong to programs beside us."""
    mapped: set[str] = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            text = maps.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        mapped |= {name for name in names if f"/dev/shm/{name}" in text}
    return {name for name in names - mapped if Path("/dev/shm", name).exists()}


def _running(text: str) -> int:
    """How many processes have this in their command line."""
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return sum(text in line for line in found.stdout.splitlines())


def main() -> int:
    """Run all cases, print a line each, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=(), help="numbers of cases; nothing is written")
    only = parser.parse_args().only
    rows = []
    for path in sorted((CORPUS / "crashes").glob("[0-9]*/case.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["package"] != "tensorflow-cpu" or (only and path.parent.name.split("_")[0] not in only):
            continue
        wanted = _WORDS.get(cause_of(case), cause_of(case))
        found = run_case(path.parent)
        fatal = case["outcome"].startswith("SIG") or case["outcome"] == "hang"
        struck = not fatal or found["end"] in ("ModelDied", "LimitReached")
        row = {"case": path.parent.name, "wanted": wanted, "struck": struck, **found}
        rows.append(row)
        right = "right" if found["cause"] == wanted else "wrong" if struck else "did not strike here"
        print(f"{row['case']:36} {found['end']:22} {wanted:30} {found['cause']:30} {right}", flush=True)
    return _finish(rows, bool(only))


def _finish(rows: list[dict[str, Any]], quick: bool) -> int:
    struck = [row for row in rows if row["struck"]]
    right = sum(row["cause"] == row["wanted"] for row in struck)
    claims = [
        Claim(
            text="TensorFlow in a guard: share of callers that lived",
            ratio=sum(row["lived"] for row in rows) / len(rows),
            bound=1,
            at_least=True,
        ),
        Claim(
            text="TensorFlow in a guard: processes and blocks left behind",
            ratio=sum(row["left"] for row in rows),
            bound=0,
        ),
        Claim(
            text="TensorFlow in a guard: share of causes that are right",
            ratio=right / max(1, len(struck)),
            bound=0.9,
            at_least=True,
        ),
    ]
    print(*claims, sep="\n")
    if not quick:
        print(f"written to {write_results('tensorflow_deaths', PACKAGES, claims, {'cases': rows})}")
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
