"""Whatever an accelerator does, the program that asks loads none of it and keeps nothing of it."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.accelerators.small_models import line

# Probes with all that is here, on the GPU too, and says what the program itself has loaded and left behind.
PROGRAM = """
import json, os, sys
import outlive
model = bytes.fromhex(sys.argv[1])
coverage = outlive.probe(model, only=["xnnpack", "gpu", "npu"], cache=False)
with outlive.Interpreter(model_content=model, accelerator="auto", ladder=("cpu",)) as interpreter:
    interpreter.allocate_tensors()
    interpreter.invoke()
with outlive.CompiledModel.from_buffer(model) as compiled:
    compiled.run_by_index(0, compiled.create_input_buffers(0), compiled.create_output_buffers(0))
maps = open("/proc/self/maps").read()
from outlive.process.factories import close_factories
close_factories()
children = [name for name in os.listdir("/proc") if name.isdigit() and _parent(name) == os.getpid()]
print(json.dumps({
    "outcomes": [one.outcome for one in coverage.accelerators][:3],
    "modules": [name for name in ("ai_edge_litert", "tensorflow", "openvino") if name in sys.modules],
    "libraries": [word for word in ("libLiteRt", "libvulkan", "libopenvino") if word in maps],
    "children": children,
}))
"""
PARENT = """
def _parent(name):
    try:
        return int(open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0
"""


def test_nothing_native_is_loaded_and_nobody_is_left_behind() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PARENT + PROGRAM, line("ADD", "MUL").hex()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told == {
        "outcomes": ["runs", "runs", "runs"],
        "modules": [],
        "libraries": [],
        "children": [],
    }
