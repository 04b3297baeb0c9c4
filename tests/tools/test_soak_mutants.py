"""The soak of mutants adds up over runs, and outlives the children it loses."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from math import inf
from pathlib import Path

from tests.properties.specimens import specimens
from tools.soak_mutants import Child, Soak

# Answers as a child does, but dies over mutant 3.
ILL = """
import json, os, sys
for line in sys.stdin:
    verb, first, count = line.split()
    for seed in range(int(first), int(first) + int(count)):
        if seed == 3:
            os._exit(7)
        print(json.dumps({"seed": seed, "end": "fine"}), flush=True)
    print(json.dumps({"done": int(first) + int(count)}), flush=True)
"""


def test_a_run_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    results = tmp_path / "mutants.json"
    with closing(Soak(list(specimens()), [], results, jobs=1)) as first:
        first.go_on("read", 30, stop_at=inf)
    document = json.loads(results.read_text("utf-8"))
    (row,) = document["verbs"]["read"]
    assert (row["count"], row["next_seed"], row["failures"]) == (30, 30, [])
    row["failures"] = [{"seed": 4, "end": "failure", "what": "it failed once", "trace": ""}]
    was = max(row["ends"], key=row["ends"].get)
    row["ends"] |= {was: row["ends"][was] - 1, "failure": 1}
    results.write_text(json.dumps(document), encoding="utf-8")
    with closing(Soak(list(specimens()), [], results, jobs=1)) as second:
        second.retry("read")
        second.go_on("read", 20, stop_at=inf)
        assert second.summarize(["read"]) == 0
    (row,) = json.loads(results.read_text("utf-8"))["verbs"]["read"]
    assert (row["count"], row["next_seed"], row["failures"]) == (50, 50, [])
    assert sum(row["ends"].values()) == 50
    assert "failure" not in row["ends"]


def test_a_child_that_dies_costs_one_mutant() -> None:
    child = Child([])
    child._command = [sys.executable, "-c", ILL]
    try:
        tally = child.try_all("read", range(8))
    finally:
        child.close()
    assert tally.ends == {"fine": 7, "lost": 1}
    assert [(row["seed"], row["what"]) for row in tally.failures] == [(3, "the process died with 7")]


def test_results_of_other_models_are_kept_apart(tmp_path: Path) -> None:
    results = tmp_path / "mutants.json"
    for models in ([b"one"], [b"two"]):
        Soak(models, [], results, jobs=1).retry("plan")
    rows = json.loads(results.read_text("utf-8"))["verbs"]["plan"]
    assert [row["models"]["count"] for row in rows] == [1, 1]
    assert len({row["models"]["sha256"] for row in rows}) == 2
