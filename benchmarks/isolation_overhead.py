"""The cost of a separate process, compared with LiteRT in the same process.

    python benchmarks/isolation_overhead.py [--quick]

Each contestant runs in a process of its own, taking turns of some milliseconds: LiteRT's Interpreter as it
is, ours, and the same idea done with multiprocessing.Pipe. A round is set_tensor, invoke, get_tensor; a turn
begins with some rounds that do not count, because it comes after a pause. What is told are medians of the
calm turns (`side_by_side.calm_medians`), and how many turns were calm; of calls of milliseconds the ratio,
turn by turn, to two processes of LiteRT's beside it (`side_by_side.median_ratio`).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, Contestant, alternate, calm_medians, finish, median_ratio, time_in_turns

from outlive import demo_models
from outlive.surgery import write

PACKAGES = ("outlive", "ai-edge-litert", "numpy")
LIVES = 5
LARGE = 2_500_000  # numbers of four bytes: 10 MB

_ROUNDS = """
import numpy as np
path, rounds = arguments[0], int(arguments[1])

def start(interpreter):
    global inside, index, output, value
    inside = interpreter
    inside.allocate_tensors()
    row = inside.get_input_details()[0]
    index, output = row["index"], inside.get_output_details()[0]["index"]
    value = np.zeros(row["shape"], row["dtype"])

def turn():
    taken = []
    warming = max(2, rounds // 4)
    for number in range(warming + rounds):
        start = time.perf_counter()
        inside.set_tensor(index, value)
        inside.invoke()
        inside.get_tensor(output)
        taken.append(time.perf_counter() - start)
    return sorted(taken[warming:])[rounds // 2]
"""
DIRECT = Contestant(
    name="direct",
    program=_ROUNDS
    + """
from ai_edge_litert.interpreter import Interpreter
start(Interpreter(model_path=path))
""",
)
OURS = Contestant(
    name="outlive",
    program=_ROUNDS
    + """
from outlive import Interpreter
start(Interpreter(model_path=path))
""",
)
PIPE = Contestant(
    name="multiprocessing.Pipe",
    program=_ROUNDS
    + """
import multiprocessing

def serve(pipe, path):
    from ai_edge_litert.interpreter import Interpreter
    interpreter = Interpreter(model_path=path)
    while True:
        name, values = pipe.recv()
        pipe.send(getattr(interpreter, name)(*values))

class Remote:
    def __init__(self, model_path):
        self.pipe, theirs = multiprocessing.Pipe()
        multiprocessing.Process(target=serve, args=(theirs, model_path), daemon=True).start()
    def __getattr__(self, name):
        def call(*values):
            self.pipe.send((name, values))
            return self.pipe.recv()
        return call

start(Remote(path))
""",
)
# The same on a single core; the worker inherits it.
_ONE_CORE = "import os; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])\n"
AGAIN = Contestant(name="direct again", program=DIRECT.program)
ONE_CORE = [Contestant(name=one.name, program=_ONE_CORE + one.program) for one in (DIRECT, OURS)]
COPY = Contestant(
    name="one copy",
    program="""
import numpy as np
source, target = np.ones(int(arguments[0]), np.float32), np.zeros(int(arguments[0]), np.float32)
time_it(lambda: np.copyto(target, source))
""",
)
_OPEN = """
path = arguments[0]
from {package} import Interpreter

def first_result():
    start = time.perf_counter()
    interpreter = Interpreter(model_path=path)
    interpreter.allocate_tensors()
    interpreter.invoke()
    return time.perf_counter() - start, interpreter

first, kept = first_result()
"""
_OPEN_TURN = """
def turn():
    return sorted(first_result()[0] for _ in range(9))[4]
"""
OPEN_DIRECT = Contestant(
    name="direct", program=_OPEN.format(package="ai_edge_litert.interpreter") + _OPEN_TURN
)
OPEN_OURS = Contestant(name="outlive", program=_OPEN.format(package="outlive") + _OPEN_TURN)
OPEN_BARE = Contestant(
    name="without sandbox", program='import os; os.environ["OUTLIVE_SANDBOX"] = "off"\n' + OPEN_OURS.program
)
FIRST_OURS = Contestant(
    name="outlive", program=_OPEN.format(package="outlive") + "print(json.dumps([first]))"
)
AFTER_DEATH = Contestant(
    name="outlive",
    program="""
import outlive
healthy, deadly = arguments

def after_death():
    interpreter = outlive.Interpreter(model_path=deadly)
    interpreter.allocate_tensors()
    start = time.perf_counter()
    try:
        interpreter.invoke()
    except outlive.ModelDied:
        pass
    following = outlive.Interpreter(model_path=healthy)
    following.allocate_tensors()
    following.invoke()
    return time.perf_counter() - start

after_death()
print(json.dumps([after_death() for _ in range(repetitions)]))
""",
)


def classifier(ops: int, size: int, channels: int) -> bytes:
    """A picture of three channels, convolutions of 3x3, and the mean of each channel."""
    draw = np.random.default_rng(0).standard_normal
    buffers: list[dict[str, object]] = [{}, {"data": np.zeros(channels, np.float32)}]
    tensors: list[dict[str, object]] = [
        {"name": "picture", "shape": [1, size, size, 3], "type": "FLOAT32"},
        {"name": "bias", "shape": [channels], "type": "FLOAT32", "buffer": 1},
    ]
    operators: list[dict[str, object]] = []
    last = 0
    for number in range(ops):
        depth = 3 if number == 0 else channels
        weights = draw((channels, 3, 3, depth), np.float32) / 30
        buffers.append({"data": weights})
        tensors.append(
            {"name": f"w{number}", "shape": list(weights.shape), "type": "FLOAT32", "buffer": number + 2}
        )
        tensors.append({"name": f"t{number}", "shape": [1, size, size, channels], "type": "FLOAT32"})
        operators.append(
            {
                "inputs": [last, len(tensors) - 2, 1],
                "outputs": [len(tensors) - 1],
                "builtin_options_type": "Conv2DOptions",
                "builtin_options": {"stride_w": 1, "stride_h": 1},
            }
        )
        last = len(tensors) - 1
    buffers.append({"data": np.array([1, 2], np.int32)})
    tensors.append({"name": "axes", "shape": [2], "type": "INT32", "buffer": len(buffers) - 1})
    tensors.append({"name": "scores", "shape": [1, channels], "type": "FLOAT32"})
    operators.append(
        {
            "opcode_index": 1,
            "inputs": [last, len(tensors) - 2],
            "outputs": [len(tensors) - 1],
            "builtin_options_type": "ReducerOptions",
            "builtin_options": {"keep_dims": False},
        }
    )
    graph = {"tensors": tensors, "inputs": [0], "outputs": [len(tensors) - 1], "operators": operators}
    codes = [
        {"deprecated_builtin_code": 3, "builtin_code": "CONV_2D", "version": 1},
        {"deprecated_builtin_code": 40, "builtin_code": "MEAN", "version": 1},
    ]
    return write({"version": 3, "operator_codes": codes, "subgraphs": [graph], "buffers": buffers})


def single(name: str, number: int, shape: list[int]) -> bytes:
    """A model of one operator that does next to nothing."""
    tensors = [{"name": side, "shape": shape, "type": "FLOAT32"} for side in ("in", "out")]
    graph = {
        "tensors": tensors,
        "inputs": [0],
        "outputs": [1],
        "operators": [{"inputs": [0], "outputs": [1]}],
    }
    codes = [{"deprecated_builtin_code": number, "builtin_code": name, "version": 1}]
    return write({"version": 3, "operator_codes": codes, "subgraphs": [graph], "buffers": [{}]})


def measure(
    folder: Path, quick: bool
) -> tuple[list[Claim], dict[str, dict[str, float]], dict[str, list[int]]]:
    """Time everything; the claims, the medians in microseconds, and how many turns were calm, of how many."""
    tiny = single("FLOOR", 8, [1, 16])
    slow = {"one ms": (classifier(2, 104, 20), 30), "some ms": (classifier(4, 112, 24), 10)}
    models = {
        "tiny": (tiny, 2000, [DIRECT, OURS, PIPE]),
        "one core": (tiny, 2000, ONE_CORE),
        **{name: (data, rounds, [DIRECT, OURS, AGAIN, PIPE]) for name, (data, rounds) in slow.items()},
        "large": (single("FLOOR", 8, [1, LARGE]), 6, [DIRECT, OURS, PIPE]),
        "second open": (tiny, 0, [OPEN_DIRECT, OPEN_OURS, OPEN_BARE]),
    }
    rounds_of_programs = 1 if quick else 5
    times: dict[str, dict[str, float]] = {}
    calm: dict[str, list[int]] = {}
    ratios: dict[str, list[tuple[float, float]]] = {name: [] for name in slow}
    for name, (data, rounds, contestants) in models.items():
        file = folder / f"{name}.tflite"
        file.write_bytes(data)
        found: dict[str, list[float]] = {}
        # A process may lie well or badly in memory for all its life, so each has several lives.
        for _ in range(1 if quick else LIVES):
            turns = alternate(contestants, [str(file), str(rounds)], turns=3 if quick else 9)
            found = {key: found.get(key, []) + more for key, more in turns.items()}
            if name in slow:
                ours = median_ratio(turns, "outlive", ["direct", "direct again"])
                ratios[name].append((ours, median_ratio(turns, "direct again", ["direct"])))
        medians, of = calm_medians(found, "direct")
        times[name] = {key: seconds * 1e6 for key, seconds in medians.items()}
        calm[name] = [of, len(found["direct"])]
    copied = time_in_turns([COPY], [str(LARGE)], rounds=rounds_of_programs, repetitions=40)
    times["large"]["one copy"] = copied["one copy"] * 1e6
    path = str(folder / "tiny.tflite")
    first = time_in_turns([FIRST_OURS], [path], rounds=rounds_of_programs, repetitions=1)
    deadly = str(demo_models.path("deadly"))
    after = time_in_turns([AFTER_DEATH], [path, deadly], rounds=rounds_of_programs, repetitions=5)
    times["first open"] = {"outlive": first["outlive"] * 1e6}
    times["after a segfault"] = {"outlive": after["outlive"] * 1e6}
    slower = [_slower(name, lives) for name, lives in ratios.items()]
    return claims(times, slower), times, calm


def _slower(name: str, lives: list[tuple[float, float]]) -> Claim:
    """One per cent more, or the most that two processes of LiteRT's differ by in a life."""
    noise = max(max(theirs, 1 / theirs) for _, theirs in lives)
    return Claim(
        text=f"our round over LiteRT's, model of {name} (or the most that two of LiteRT's differ by)",
        ratio=statistics.median(ours for ours, _ in lives),
        bound=max(1.01, round(noise, 3)),
    )


def claims(times: dict[str, dict[str, float]], slower: list[Claim]) -> list[Claim]:
    """What we promise; differences in microseconds or milliseconds, and ratios, of this one run."""
    tiny, alone, large, second = (times[name] for name in ("tiny", "one core", "large", "second open"))
    return [
        Claim(
            text="us added to a round of a tiny model",
            ratio=tiny["outlive"] - tiny["direct"],
            bound=6,
        ),
        Claim(
            text="us added to a round of a tiny model on a single core",
            ratio=alone["outlive"] - alone["direct"],
            bound=12,
        ),
        *slower,
        Claim(
            text="copies of 10 MB that a round with 10 MB in and out takes longer by",
            ratio=(large["outlive"] - large["direct"]) / large["one copy"],
            bound=1,
        ),
        Claim(
            text="rounds of a tiny model, as many as multiprocessing.Pipe manages",
            ratio=tiny["multiprocessing.Pipe"] / tiny["outlive"],
            bound=3,
            at_least=True,
        ),
        Claim(
            text="ms more to open a second model",
            ratio=(second["outlive"] - second["direct"]) / 1e3,
            bound=10,
        ),
        Claim(
            text="ms that the sandbox adds to an open",
            ratio=(second["outlive"] - second["without sandbox"]) / 1e3,
            bound=2,
        ),
        Claim(
            text="ms to the first result of a program", ratio=times["first open"]["outlive"] / 1e3, bound=300
        ),
        Claim(
            text="ms from a segfault to the next result",
            ratio=times["after a segfault"]["outlive"] / 1e3,
            bound=50,
        ),
    ]


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, no results written")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as name:
        checked, times, calm = measure(Path(name), quick)
    for what, row in times.items():
        told = "".join(f"{key} {value:,.1f} us   " for key, value in row.items())
        print(f"{what:18}{told}" + ("{} of {} turns calm".format(*calm[what]) if what in calm else ""))
    return finish(
        "isolation_overhead", PACKAGES, checked, {"medians_us": times, "calm_turns_of": calm}, quick=quick
    )


if __name__ == "__main__":
    sys.exit(main())
