"""Every operator cut out alone, and every prefix, computes what it computes in the whole, bit for bit.

A few operators and prefixes of each model by a seed; every operator with OUTLIVE_ALL=1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

PROBE = Path(__file__).parent / "cut_probe.py"
ROOT = Path(__file__).resolve().parents[2]
ALL = os.environ.get("OUTLIVE_ALL") == "1"
OPS, PREFIXES = (1_000_000, 20) if ALL else (15, 2)
SEED = 20_240_607
_BATCHES = 2
Fact = dict[str, Any]


def ask(paths: list[Path]) -> list[Fact]:
    """What the probe says about these models; one that kills it costs its own facts only."""
    facts: list[Fact] = []
    while paths:
        command = [sys.executable, str(PROBE), str(OPS), str(PREFIXES), str(SEED), *map(str, paths)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        facts += [fact for fact in said if "started" not in fact]
        if done.returncode == 0:
            break
        last = said[-1] if said else {"model": paths[0].name, "started": "nothing"}
        ended = f"{done.returncode} at {last.get('started')}: {done.stderr[-300:].decode('utf-8', 'replace')}"
        facts.append({"model": last["model"], "died": ended})
        paths = paths[[path.name for path in paths].index(last["model"]) + 1 :]
    return facts


@pytest.fixture(scope="module")
def facts(corpus_models: tuple[Path, ...], corpus_manifest: dict[str, Any]) -> list[Fact]:
    """All that was compared, of every model that runs."""
    runnable = [path for path in corpus_models if corpus_manifest[path.name]["outcome"] == "ok"]
    with ThreadPoolExecutor(max_workers=_BATCHES) as pool:
        shares = [runnable[start::_BATCHES] for start in range(_BATCHES)]
        return [fact for share in pool.map(ask, shares) for fact in share]


@pytest.mark.corpus
@pytest.mark.timeout(3600 if ALL else 600)
def test_every_cut_computes_what_the_whole_computes(facts: list[Fact]) -> None:
    bad = [fact for fact in facts if fact.get("problems") or "died" in fact]
    assert not bad, "\n".join(json.dumps(fact) for fact in bad[:20])


@pytest.mark.corpus
def test_nearly_everything_was_compared(facts: list[Fact], corpus_manifest: dict[str, Any]) -> None:
    refused = {fact["model"] for fact in facts if "whole_refused" in fact}
    assert all(corpus_manifest[name].get("custom_ops") for name in refused), refused
    compared = [fact for fact in facts if fact.get("outputs")]
    assert len({fact["model"] for fact in compared}) >= len({fact["model"] for fact in facts}) - len(refused)
    assert len(compared) > 0.9 * sum("outputs" in fact or "skipped" in fact for fact in facts)
    assert len({fact["type"] for fact in compared}) > (80 if ALL else 40)
