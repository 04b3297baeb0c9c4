"""A healthy program runs as well with outlive as without: threads x containers x verbs, each run both ways.

    python -m tests.faults.limits_matrix --only Interpreter-64-400MB-small     one cell, as JSON
    python -m tests.faults.limits_matrix --list                                 the names of all

A cell is run plainly (LiteRT or TensorFlow in the process itself) and through outlive, each in a process and
a memory cgroup of its own. It holds if what runs plainly runs with outlive and gives the same result, and if
what dies plainly of memory runs, or ends in a finding that names memory.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
MODELS = REPOSITORY / "src" / "outlive" / "demo_models"
THREADS = (1, 4, 16, 64, 256)
CONTAINERS = {"unlimited": 0, "400MB": 400_000_000, "900MB": 900_000_000, "2GB": 2_000_000_000}
VERBS = ("Interpreter", "CompiledModel", "guard", "quantize", "compare", "run")
# Those that can be given a need which some of the containers do not have, and with how many threads.
HUNGRY_VERBS, HUNGRY_THREADS = ("Interpreter", "CompiledModel", "guard", "run"), (1, 64)
# Codes of findings that name memory, and the words of a Python that got none.
MEMORY_CODES, MEMORY_WORDS = ("D501", "D502", "M201"), ("MemoryError", "memory", "OOM", "bad_alloc")
MOST_S = 300
_VARIABLES = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS")


def names() -> list[str]:
    """All cells: verb, threads, container, need."""
    small = itertools.product(VERBS, THREADS, CONTAINERS, ("small",))
    large = itertools.product(HUNGRY_VERBS, HUNGRY_THREADS, CONTAINERS, ("large",))
    return ["-".join(map(str, cell)) for cell in (*small, *large)]


def try_cell(name: str) -> dict[str, Any]:
    """What became of a cell both ways, and whether it holds."""
    plain, ours = (_in_container(way, name) for way in ("plain", "outlive"))
    return {
        "plain": plain,
        "outlive": ours,
        "holds": not problem(plain, ours),
        "problem": problem(plain, ours),
    }


def problem(plain: dict[str, Any], ours: dict[str, Any]) -> str:
    """What is wrong with a cell; empty if it holds."""
    if plain["end"] != "ran" and not plain["of_memory"]:
        return "the plain run failed, and not of memory"
    if ours["end"] not in ("ran", "finding"):
        return "the program itself came to an end"
    if plain["end"] == "ran" and ours["end"] != "ran":
        return "it runs plainly, and not with outlive"
    if plain["end"] == "ran" and plain["result"] != ours["result"]:
        return "another result"
    if ours["end"] == "finding" and not ours["of_memory"]:
        return "it dies plainly of memory, and the finding does not say so"
    return ""


def _in_container(way: str, name: str) -> dict[str, Any]:
    """One run of a cell in a process and, if it is to have one, a cgroup of its own."""
    _, threads, container, _ = name.split("-")
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY}", "TF_CPP_MIN_LOG_LEVEL": "1"}
    environment |= dict.fromkeys(_VARIABLES, threads)
    with _container(CONTAINERS[container]) as cgroup:
        command = [sys.executable, "-m", "tests.faults.limits_matrix", "--way", way, "--only", name]
        if cgroup is not None:
            command = ["sh", "-c", f'echo $$ > {cgroup.path}/cgroup.procs && exec "$@"', "sh", *command]
        done = subprocess.run(
            command,
            cwd=REPOSITORY,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_S,
        )
        killed = bool(cgroup is not None and cgroup.oom_kills())
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0 and lines:
        return {**json.loads(lines[-1])}
    said = (done.stderr.strip().splitlines() or [""])[-1][:300]
    of_memory = killed or any(word in done.stderr for word in MEMORY_WORDS)
    return {"end": "died", "exit_code": done.returncode, "said": said, "of_memory": of_memory}


@contextlib.contextmanager
def _container(size: int) -> Iterator[Any]:
    from outlive.meter import make_cgroup

    if not size:
        yield None
        return
    cgroup = make_cgroup(size)
    if cgroup is None:
        raise SystemExit("needs leave to make a memory cgroup: root, or a delegated one")
    with cgroup:
        yield cgroup


def _digest(*values: Any) -> str:
    import numpy as np

    digest = hashlib.sha256()
    for value in values:
        digest.update(value if isinstance(value, bytes) else np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()[:16]


def _model(need: str) -> str:
    return str(MODELS / ("healthy.tflite" if need == "small" else "too_big.tflite"))


def interpret(make: Callable[..., Any], threads: int, need: str) -> str:
    """One run of an interpreter, ours or LiteRT's."""
    import numpy as np

    interpreter = make(model_path=_model(need), num_threads=threads)
    interpreter.allocate_tensors()
    for row in interpreter.get_input_details():
        interpreter.set_tensor(row["index"], np.full(row["shape"], 0.5, row["dtype"]))
    interpreter.invoke()
    return _digest(*(interpreter.get_tensor(row["index"]) for row in interpreter.get_output_details()))


def compile_and_run(kind: Any, options: Any, need: str) -> str:
    """One run of a compiled model, ours or LiteRT's."""
    import numpy as np

    from outlive import read

    compiled = kind.from_file(_model(need), options=options)
    given, made = compiled.create_input_buffers(0), compiled.create_output_buffers(0)
    model = read(_model(need))
    for buffer, tensor in zip(given, model.inputs, strict=True):
        buffer.write(np.full(tensor.shape, 0.5, np.float32))
    compiled.run_by_index(0, given, made)
    sizes = [int(np.prod(tensor.shape)) for tensor in model.outputs]
    return _digest(*(buffer.read(size, np.float32) for buffer, size in zip(made, sizes, strict=True)))


def train(threads: int, need: str) -> float:
    """A function of a user's, with TensorFlow."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    square = tf.ones((256, 256))
    total = float(tf.reduce_sum(square @ square))
    if need == "large":
        total += float(tf.reduce_sum(tf.ones((200_000_000,), tf.float32)[:10]))
    return total


def _plain_quantize() -> str:
    from outlive.quant.recipes import find_recipe
    from outlive.quant.worker_functions import quantize_content

    content = Path(_model("small")).read_bytes()
    recipe = find_recipe("dynamic-int8")[1]
    return _digest(quantize_content(content, recipe, None, None, careful=False)[0])


def _plain_error(threads: int) -> str:
    """The largest difference between the outputs of the float model and its int8 twin, as LiteRT has them."""
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter

    results = []
    for name in ("healthy.tflite", "healthy_int8.tflite"):
        interpreter = Interpreter(model_path=str(MODELS / name), num_threads=threads)
        interpreter.allocate_tensors()
        (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()
        values = np.full(given["shape"], 0.5, np.float32)
        scale, zero = given["quantization"]
        if scale:
            values = np.round(values / scale + zero).astype(given["dtype"])
        interpreter.set_tensor(given["index"], values)
        interpreter.invoke()
        found = interpreter.get_tensor(made["index"]).astype(np.float64)
        scale, zero = made["quantization"]
        results.append((found - zero) * scale if scale else found)
    return f"{np.abs(results[0] - results[1]).max():.6f}"


def run_plainly(verb: str, threads: int, need: str) -> Any:
    """The result of a cell without outlive."""
    if verb == "guard":
        return train(threads, need)
    if verb == "quantize":
        return _plain_quantize()
    if verb == "compare":
        return _plain_error(threads)
    if verb == "CompiledModel":
        from ai_edge_litert.compiled_model import CompiledModel
        from ai_edge_litert.options import CpuOptions, Options

        return compile_and_run(CompiledModel, Options(cpu_options=CpuOptions(num_threads=threads)), need)
    from ai_edge_litert.interpreter import Interpreter

    return interpret(Interpreter, threads, need)


def run_with_outlive(verb: str, threads: int, need: str) -> Any:
    """The result of a cell with outlive."""
    import numpy as np

    import outlive

    if verb == "guard":
        return outlive.guard(train)(threads, need)
    if verb == "quantize":
        return _digest(bytes(outlive.quantize(_model("small")).model))
    if verb == "compare":
        twin = str(MODELS / "healthy_int8.tflite")
        drift = outlive.compare(_model("small"), twin, [np.full((1, 64, 64, 3), 0.5, np.float32)])
        return f"{drift.outputs[0].metrics.max_abs_error:.6f}"
    if verb == "CompiledModel":
        options = {"cpu_options": {"num_threads": threads}}
        return compile_and_run(outlive.CompiledModel, options, need)
    if verb == "Interpreter":
        return interpret(outlive.Interpreter, threads, need)
    model = outlive.read(_model(need))
    inputs = [np.full(tensor.shape, 0.5, np.float32) for tensor in model.inputs]
    flight = outlive.run(_model(need), inputs, num_threads=threads)
    if flight.died or flight.error_type:
        from outlive.verbs.judging import JUDGE

        raise JUDGE.died(flight, _model(need))
    return _digest(*flight.values.values())


def tell_cell(way: str, name: str) -> dict[str, Any]:
    """In the process of a cell: how it ended, and its result."""
    verb, threads, _, need = name.split("-")
    if way == "plain":
        return {"end": "ran", "result": run_plainly(verb, int(threads), need)}
    import outlive

    try:
        return {"end": "ran", "result": run_with_outlive(verb, int(threads), need)}
    except (outlive.OutliveError, MemoryError, RuntimeError) as error:
        finding = getattr(error, "finding", None)
        code = "" if finding is None else finding.code
        text = f"{type(error).__name__}: {error}"
        of_memory = code in MEMORY_CODES or (not code and any(word in text for word in MEMORY_WORDS))
        return {"end": "finding", "code": code, "of_memory": of_memory, "said": text[:300]}


def main() -> int:
    """List the cells, try one, or be one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="the names of all cells")
    parser.add_argument("--only", help="one cell")
    parser.add_argument("--way", choices=("plain", "outlive"), help="in its process")
    args = parser.parse_args()
    if args.list:
        print("\n".join(names()))
    elif args.way:
        print(json.dumps(tell_cell(args.way, args.only)), flush=True)
        os._exit(0)  # LiteRT may die at its own end where threads were refused: no part of the question
    else:
        row = try_cell(args.only)
        print(json.dumps(row))
        return 0 if row["holds"] else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
