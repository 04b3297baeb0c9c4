"""The long tests: python tools/run_soak.py [--minutes 60] [--parts chaos,faults] [--folder build/soak].

    growth    benchmarks/soak.py: 100,000 invokes, 1,000 interpreters, 300 deaths; nothing grows
    failures  every stage of every verb fails 300 times; nothing is left of it
    scan      `outlive scan --run` over 2,000 files, nine in ten damaged, with 256 descriptors
    chaos     30 minutes of kills and stops under 8 threads
    faults    every operating-system call of every verb fails in turn
    mutants   damaged models: 1,000,000 through read and check, 100,000 through plan and cut, 20,000 run
    limits    threads x containers x verbs: what runs plainly runs with outlive, and the same comes out
    kernels   each death of a Jupyter kernel ten times, in a real JupyterLab in Chromium; and what it says
    repeats   other tests that repeat a guarantee, with as many rounds as tests/repetition.py says for a soak
    fuzz      the reader and the decoders of workers' answers, guided by coverage
    remedies  what autopsy tells people to paste: packages exist in the index, code compiles, names exist

A session of so many minutes does what it can; what each part has done is kept in the folder, and the next
session goes on there. Results with their seeds go to benchmarks/results/soak_*.json. To begin anew, remove
the folder.
Exit code 1 if something does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
RESULTS = REPOSITORY / "benchmarks" / "results"
CHAOS_SEED, CHAOS_ROUNDS, CHAOS_SECONDS = 190_000, 30, 60
# A round that stands still: its own watch ends it long before.
CHAOS_MOST_S = CHAOS_SECONDS + 300
FAILURE_TIMES = 300
MUTANTS = {"read": 1_000_000, "plan": 100_000, "cut": 100_000, "run": 20_000}
FUZZ_MINUTES = 30.0
KERNEL_DEATHS = "tests/jupyter/test_lab_deaths.py"
GOES_ON = 75


@dataclass
class State:
    """What a part has done so far; kept after every step."""

    path: Path
    stop_at: float
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def left_s(self) -> float:
        """Seconds of this session that are left for the part."""
        return max(0.0, self.stop_at - time.monotonic())

    def save(self) -> None:
        """Keep it, whole or not at all."""
        draft = self.path.with_suffix(".draft")
        draft.write_text(json.dumps(self.body, indent=1) + "\n", encoding="utf-8")
        draft.replace(self.path)


Part = Callable[[State], None]


def growth(state: State) -> None:
    """One run of the benchmark, which takes some minutes and keeps its own results."""
    done = _run(["benchmarks/soak.py"])
    state.body |= {"done": True, "holds": done.returncode == 0, "said": done.stdout[-3000:]}


def failures(state: State) -> None:
    """Each failure in a process of its own, so that one does not hide what another leaves."""
    names = _run(["-m", "tests.faults.failures", "--list"]).stdout.splitlines()
    rows = state.body.setdefault("rows", {})
    for name in names:
        if rows.get(name, {}).get("holds"):
            continue  # one that did not hold is tried again: it may have been repaired since
        if not state.left_s:
            return
        command = ["-m", "tests.faults.failures", "--times", str(FAILURE_TIMES), "--only", name]
        said = _run(command).stdout.splitlines()
        rows[name] = json.loads(said[-1]) if said else {"holds": False, "problem": "no answer"}
        state.save()
    state.body |= {"done": True, "holds": all(row["holds"] for row in rows.values())}


def scan(state: State) -> None:
    """One scan, which goes on with the rows it has."""
    folder = state.path.with_suffix("")
    command = ["-m", "tests.faults.mutant_scan", str(folder), "--seconds", str(max(60.0, state.left_s))]
    done = _run(command)
    said = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {"problem": done.stderr[-3000:]}
    state.body |= {**said, "done": done.returncode != GOES_ON, "holds": done.returncode in (0, GOES_ON)}


def chaos(state: State) -> None:
    """Rounds of a minute, each with the next seed in a process of its own."""
    rounds = state.body.setdefault("rounds", [])
    while len(rounds) < CHAOS_ROUNDS:
        if not state.left_s:
            return
        seed = CHAOS_SEED + len(rounds)
        command = ["-m", "tests.faults.chaos", "--seed", str(seed), "--seconds", str(CHAOS_SECONDS)]
        try:
            done = _run(command, CHAOS_MOST_S)
            said = (
                json.loads(done.stdout.splitlines()[-1])
                if done.stdout
                else {"problems": [done.stderr[-3000:]]}
            )
        except subprocess.TimeoutExpired:
            said = {"problems": [f"no end after {CHAOS_MOST_S} s"]}
        rounds.append({"seed": seed, **said})
        state.save()
    state.body |= {"done": True, "holds": not any(row["problems"] for row in rounds)}


def faults(state: State) -> None:
    """The campaign, which keeps the trials it has made."""
    trials = state.path.with_suffix(".trials")
    command = ["-m", "tests.faults.campaign", "--state", str(trials), "--minutes", str(state.left_s / 60)]
    done = _run(command)
    last = done.stdout.splitlines()[-1] if done.stdout else ""
    rows = [json.loads(line) for line in trials.read_text("utf-8").splitlines()] if trials.exists() else []
    bad = [row for row in rows if row["problems"]]
    state.body |= {
        "trials": len(rows),
        "reached": sum(1 for row in rows if row["fired"]),
        "outcomes": _counted(row["outcome"] for row in rows if row["fired"]),
        "bad": [{"trial": row["trial"], "problem": row["problems"][0][-600:]} for row in bad[:50]],
        "done": last == "all trials made",
        "holds": bool(rows) and not bad,
    }


def mutants(state: State) -> None:
    """What is missing of each verb's count; tools/soak_mutants.py keeps count itself."""
    tool, results = REPOSITORY / "tools" / "soak_mutants.py", RESULTS / "mutants.json"
    holds = True
    for verb, wanted in MUTANTS.items():
        missing = wanted - _tried(results, verb)
        if missing > 0 and state.left_s:
            command = [str(tool), "--verb", verb, "--count", str(missing)]
            done = _run([*command, "--minutes", str(state.left_s / 60)])
            holds = holds and done.returncode == 0
    tried = {verb: _tried(results, verb) for verb in MUTANTS}
    state.body |= {
        "tried": tried,
        "done": all(tried[verb] >= wanted for verb, wanted in MUTANTS.items()),
        "holds": holds and state.body.get("holds", True),
    }


def _tried(results: Path, verb: str) -> int:
    rows = json.loads(results.read_text("utf-8"))["verbs"].get(verb, ()) if results.exists() else ()
    return sum(row["count"] for row in rows)


def limits(state: State) -> None:
    """Each cell both ways, in a process and a memory cgroup of its own: as root, or with a delegated one.

    Then, by how much limits that were set are exceeded.
    """
    module = "tests.faults.limits_matrix"
    rows = state.body.setdefault("rows", {})
    for name in _run(["-m", module, "--list"]).stdout.splitlines():
        if rows.get(name, {}).get("holds"):
            continue  # one that did not hold is tried again: it may have been repaired since
        if not state.left_s:
            return
        said = _run(["-m", module, "--only", name]).stdout.splitlines()
        rows[name] = json.loads(said[-1]) if said else {"holds": False, "problem": "no answer"}
        state.save()
    if "overshoot" not in state.body:
        state.body["overshoot"] = json.loads(_run(["-m", "tests.faults.limits_overshoot"]).stdout or "{}")
    told = [row for row in rows.values() if "plain" in row]
    ends = _counted(f"plainly {row['plain']['end']}, with outlive {row['outlive']['end']}" for row in told)
    state.body |= {"done": True, "ends": ends, "holds": all(row["holds"] for row in rows.values())}


def fuzz(state: State) -> None:
    """Coverage-guided, target by target; the corpus it grows is kept in the folder."""
    spent = state.body.get("minutes", 0.0)
    minutes = min(FUZZ_MINUTES - spent, state.left_s / 60)
    command = [
        "tools/fuzz_coverage.py",
        "--minutes",
        str(minutes),
        "--corpus",
        str(state.path.with_suffix("")),
    ]
    done = _run(command)
    state.body["minutes"] = round(spent + minutes, 2)
    state.body |= {"said": done.stdout[-3000:], "done": state.body["minutes"] >= FUZZ_MINUTES}
    state.body["holds"] = done.returncode == 0 and state.body.get("holds", True)


def kernels(state: State) -> None:
    """Round by round: all deaths in one server and one browser."""
    found: dict[str, list[str]] = {}
    for test in _repeated(KERNEL_DEATHS):
        found.setdefault(f"round {int(test.rpartition('[')[2][:-1]) + 1}", []).append(test)
    _test_groups(state, found)


def repeats(state: State) -> None:
    """File by file, each in a process of its own."""
    files = {test.partition("::")[0] for test in _repeated()} - {KERNEL_DEATHS}
    _test_groups(state, {name: [name] for name in sorted(files)})


_REPEATED = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "repeats")
_SOAK = {"OUTLIVE_SOAK": "1"}


def _repeated(*where: str) -> list[str]:
    """The tests marked `repeats`."""
    said = _run([*_REPEATED, "--collect-only", *where], environment=_SOAK).stdout
    return [line for line in said.splitlines() if "::" in line]


def _test_groups(state: State, groups: Mapping[str, list[str]]) -> None:
    """Tests group by group; the next session goes on with the groups that are missing."""
    rows = state.body.setdefault("rows", {})
    for name, tests in groups.items():
        if rows.get(name, {}).get("holds"):
            continue  # one that did not hold is tried again: it may have been repaired since
        if not state.left_s:
            return
        done = _run([*_REPEATED, "-o", "timeout=0", *tests], environment=_SOAK)
        rows[name] = {"holds": done.returncode == 0, "said": done.stdout.strip().splitlines()[-1:]}
        state.body["holds"] = all(row["holds"] for row in rows.values())
        state.save()
    state.body |= {"done": True, "holds": bool(rows) and state.body.get("holds", False)}


def remedies(state: State) -> None:
    """The tool that tries what advice says; the package index is asked."""
    done = _run(["tools/check_remedies.py"])
    state.body |= {"done": True, "holds": done.returncode == 0, "said": done.stdout[-3000:]}


PARTS: dict[str, Part] = {
    "growth": growth,
    "failures": failures,
    "scan": scan,
    "chaos": chaos,
    "faults": faults,
    "mutants": mutants,
    "limits": limits,
    "kernels": kernels,
    "repeats": repeats,
    "fuzz": fuzz,
    "remedies": remedies,
}


def main() -> int:
    """Do what is missing, part by part; each gets its share of the time that is left."""
    args = _arguments()
    args.folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + args.minutes * 60
    wanted = [name for name in args.parts if not _state(args.folder, name, end).body.get("done")]
    for number, name in enumerate(wanted):
        now = time.monotonic()
        _do(name, _state(args.folder, name, now + max(0.0, end - now) / (len(wanted) - number)))
    return _tell(args.folder, args.parts)


def _do(name: str, state: State) -> None:
    print(f"== {name}: {state.left_s / 60:.0f} minutes", flush=True)
    try:
        PARTS[name](state)
    finally:
        state.save()
    document = {
        "part": name,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        **state.body,
    }
    path = RESULTS / f"soak_{name}.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _tell(folder: Path, names: list[str]) -> int:
    """One line for each part; the exit code."""
    bodies = {name: _state(folder, name, 0.0).body for name in names}
    for name, body in bodies.items():
        progress = "whole" if body.get("done") else "not whole yet: run it again"
        print(f"{name:9} {'holds' if body.get('holds', True) else 'DOES NOT HOLD':14} {progress}")
    return 0 if all(body.get("holds", True) for body in bodies.values()) else 1


def _state(folder: Path, name: str, stop_at: float) -> State:
    path = folder / f"{name}.json"
    body = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return State(path=path, stop_at=stop_at, body=body)


def _run(
    words: list[str], most_s: float | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A program of ours, and what it said; what it complained about is shown."""
    path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, *words],
        cwd=REPOSITORY, env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        capture_output=True, text=True, check=False, timeout=most_s,
    )  # fmt: skip
    if done.returncode not in (0, GOES_ON):
        print(done.stdout[-2000:], done.stderr[-2000:], sep="\n", flush=True)
    return done


def _counted(words: Iterator[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="of this session (default: 60)")
    parser.add_argument(
        "--parts", type=lambda words: words.split(","), default=list(PARTS), help="some of them"
    )
    parser.add_argument(
        "--folder", type=Path, default=REPOSITORY / "build" / "soak", help="what is kept from one to the next"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
