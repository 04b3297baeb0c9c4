"""What is refused before a worker starts is refused by LiteRT too: damaged models, many of them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from outlive import demo_models
from outlive.model import read_source

MUTANTS = 1200
# Each file is opened in a child of its own: one that LiteRT dies of is no file that it loads.
LOADS = """
import os, sys
from ai_edge_litert.interpreter import Interpreter
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
for path in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            Interpreter(path)
        except ValueError:
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        print(path)
"""


def mutants(seed: int) -> list[bytes]:
    rng = random.Random(seed)
    found = []
    for _ in range(MUTANTS):
        data = bytearray(demo_models.path(rng.choice(("healthy", "healthy_int8", "wasteful"))).read_bytes())
        if rng.random() < 0.2:
            del data[rng.randrange(16, len(data)) :]
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            # Tables lie before the weights of these models, and most damage to weights is no damage.
            data[rng.randrange(8, min(len(data), 9000))] = rng.randrange(256)
        found.append(bytes(data))
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each file is opened in a forked child")
def test_litert_refuses_what_is_refused_before_it_is_asked(tmp_path: Path) -> None:
    refused = [data for data in mutants(7) if not read_source(data).is_loadable]
    paths = []
    for number, data in enumerate(refused):
        paths.append(tmp_path / f"{number}.tflite")
        paths[-1].write_bytes(data)
    command = [sys.executable, "-c", LOADS, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert len(refused) > MUTANTS // 8
    assert done.stdout == ""
