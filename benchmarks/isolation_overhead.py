"""What a process of its own costs, beside LiteRT in the same process.

    python benchmarks/isolation_overhead.py [--quick]

Each contestant runs in fresh processes of its own, taking turns: LiteRT's Interpreter as it is, ours, and
the same idea done with multiprocessing.Pipe. A round is set_tensor, invoke, get_tensor; medians, in one run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, Contestant, finish, time_in_turns

from outlive import demo_models
from outlive.surgery import write
from outlive.worker.handle import can_spin

PACKAGES = ("outlive", "ai-edge-litert", "numpy")
LARGE = 2_500_000  # numbers of four bytes: 10 MB

_ROUNDS = """
import numpy as np
path, rounds = arguments[0], int(arguments[1])

def median_round(interpreter):
    interpreter.allocate_tensors()
    row = interpreter.get_input_details()[0]
    index, output = row["index"], interpreter.get_output_details()[0]["index"]
    value, taken = np.zeros(row["shape"], row["dtype"]), []
    for number in range(rounds + 20):
        start = time.perf_counter()
        interpreter.set_tensor(index, value)
        interpreter.invoke()
        interpreter.get_tensor(output)
        taken.append(time.perf_counter() - start)
    taken = sorted(taken[20:])
    return taken[len(taken) // 2]
"""
DIRECT = Contestant(
    name="direct",
    program=_ROUNDS
    + """
from ai_edge_litert.interpreter import Interpreter
print(json.dumps([median_round(Interpreter(model_path=path)) for _ in range(repetitions)]))
""",
)
OURS = Contestant(
    name="outlive",
    program=_ROUNDS
    + """
from outlive import Interpreter
print(json.dumps([median_round(Interpreter(model_path=path)) for _ in range(repetitions)]))
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

print(json.dumps([median_round(Remote(path)) for _ in range(repetitions)]))
""",
)
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
second = [first_result()[0] for _ in range(9)]
"""
OPEN_DIRECT = Contestant(
    name="direct",
    program=_OPEN.format(package="ai_edge_litert.interpreter") + "print(json.dumps([sorted(second)[4]]))",
)
OPEN_OURS = Contestant(
    name="outlive", program=_OPEN.format(package="outlive") + "print(json.dumps([sorted(second)[4]]))"
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


def chain(ops: int, size: int, channels: int) -> bytes:
    """Convolutions of 3x3 on a square picture: more of either makes a slower model."""
    weights = np.random.default_rng(0).standard_normal((channels, 3, 3, channels), np.float32) / 30
    shape = [1, size, size, channels]
    tensors: list[dict[str, object]] = [
        {"name": f"t{i}", "shape": shape, "type": "FLOAT32"} for i in range(ops + 1)
    ]
    tensors.append({"name": "w", "shape": [channels, 3, 3, channels], "type": "FLOAT32", "buffer": 1})
    tensors.append({"name": "b", "shape": [channels], "type": "FLOAT32", "buffer": 2})
    operators = [
        {
            "inputs": [i, ops + 1, ops + 2],
            "outputs": [i + 1],
            "builtin_options_type": "Conv2DOptions",
            "builtin_options": {"stride_w": 1, "stride_h": 1},
        }
        for i in range(ops)
    ]
    graph = {"tensors": tensors, "inputs": [0], "outputs": [ops], "operators": operators}
    codes = [{"deprecated_builtin_code": 3, "builtin_code": "CONV_2D", "version": 1}]
    return write(
        {
            "version": 3,
            "operator_codes": codes,
            "subgraphs": [graph],
            "buffers": [{}, {"data": weights}, {"data": np.zeros(channels, np.float32)}],
        }
    )


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


def measure(folder: Path, quick: bool) -> tuple[list[Claim], dict[str, dict[str, float]]]:
    """Time everything; the claims, and the medians in microseconds."""
    models = {
        "tiny": (single("FLOOR", 8, [1, 16]), 3000),
        "slow": (chain(4, 96, 24), 60),
        "large": (single("FLOOR", 8, [1, LARGE]), 40),
    }
    turns = 1 if quick else 5
    times: dict[str, dict[str, float]] = {}
    for name, (data, rounds) in models.items():
        path = folder / f"{name}.tflite"
        path.write_bytes(data)
        found = time_in_turns(
            [DIRECT, OURS, PIPE],
            [str(path), str(rounds // 10 if quick else rounds)],
            rounds=turns,
            repetitions=1,
        )
        times[name] = {key: seconds * 1e6 for key, seconds in found.items()}
    copied = time_in_turns([COPY], [str(LARGE)], rounds=turns, repetitions=40)
    times["large"]["one copy"] = copied["one copy"] * 1e6
    tiny = str(folder / "tiny.tflite")
    opened = time_in_turns([OPEN_DIRECT, OPEN_OURS], [tiny], rounds=turns, repetitions=1)
    first = time_in_turns([FIRST_OURS], [tiny], rounds=turns, repetitions=1)
    deadly = str(demo_models.path("deadly"))
    after = time_in_turns([AFTER_DEATH], [tiny, deadly], rounds=turns, repetitions=5)
    times["second open"] = {key: seconds * 1e6 for key, seconds in opened.items()}
    times["first open"] = {"outlive": first["outlive"] * 1e6}
    times["after a segfault"] = {"outlive": after["outlive"] * 1e6}
    return claims(times), times


def claims(times: dict[str, dict[str, float]]) -> list[Claim]:
    """What we promise; differences in microseconds or milliseconds, and ratios, of this one run."""
    tiny, slow, large, second = (times[name] for name in ("tiny", "slow", "large", "second open"))
    return [
        Claim(
            text="us added to a round of a tiny model",
            ratio=tiny["outlive"] - tiny["direct"],
            bound=6 if can_spin() else 12,
        ),
        # One per cent, and as much again for what two runs of the same model differ by.
        Claim(text="our round over LiteRT's, slow model", ratio=slow["outlive"] / slow["direct"], bound=1.02),
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
        checked, times = measure(Path(name), quick)
    for what, row in times.items():
        print(f"{what:18}" + "".join(f"{key} {value:,.1f} us   " for key, value in row.items()))
    return finish("isolation_overhead", PACKAGES, checked, {"medians_us": times}, quick=quick)


if __name__ == "__main__":
    sys.exit(main())
