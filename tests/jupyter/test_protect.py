"""One line more, and an unchanged notebook survives its models; another takes it back."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import outlive
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only

pytestmark = linux_only

# What people write, with nothing of ours in it.
NOTEBOOK = """
from {module} import Interpreter
interpreter = Interpreter(model_path=HEALTHY)
interpreter.allocate_tensors()
row = interpreter.get_input_details()[0]
interpreter.set_tensor(row["index"], np.ones(row["shape"], row["dtype"]))
interpreter.invoke()
output = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
deadly = Interpreter(DEADLY)
deadly.allocate_tensors()
try:
    deadly.invoke()
except RuntimeError as error:
    say(error=type(error).__name__, code=error.finding.code)
say(shape=list(output.shape), runtime=deadly.flight.runtime.get("runtime"))
"""
LIBRARIES = """
with open("/proc/self/maps") as maps:
    say(native=[line.split()[-1] for line in maps if ".so" in line and "litert" in line.lower()])
"""
PROTECT = "outlive.protect()\n"
# A machine with far more to do than cores takes minutes to load what an idle one loads in seconds.
PATIENCE_S = 600


def play(program: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    """Run a program of a notebook's to its end; what it said."""
    return scenes.play(program, timeout_s=PATIENCE_S, env=env or {})


def test_litert_is_guarded_and_not_even_loaded() -> None:
    facts = play(PROTECT + NOTEBOOK.format(module="ai_edge_litert.interpreter") + LIBRARIES)
    assert facts == {
        "error": "ModelDied",
        "code": "O109",
        "shape": [1, 10],
        "native": [],
        "runtime": "litert",
    }


def test_all_that_is_imported_from_there_is_ours() -> None:
    facts = play(
        PROTECT
        + """
import ai_edge_litert
import ai_edge_litert.interpreter as litert
from ai_edge_litert.interpreter import OpResolverType, load_delegate, Delegate, InterpreterWithCustomOps
delegate = load_delegate("no_such_library.so", {"a": 1})
say(version=ai_edge_litert.__version__, file=ai_edge_litert.__file__, delegate=delegate.library)
litert.Interpreter(HEALTHY, experimental_op_resolver_type=OpResolverType.BUILTIN_REF).allocate_tensors()
try:
    litert.Interpreter(HEALTHY, experimental_delegates=[delegate])
except (ValueError, RuntimeError, OSError) as error:
    say(refused=type(error).__name__)
"""
        + LIBRARIES
    )
    assert facts["native"] == []
    assert facts["delegate"] == "no_such_library.so"
    assert facts["version"]
    assert facts["refused"]


def test_a_compiled_model_is_guarded_too() -> None:
    facts = play(
        PROTECT
        + """
from ai_edge_litert.compiled_model import CompiledModel
from ai_edge_litert.hardware_accelerator import HardwareAccelerator
model = CompiledModel.from_file(HEALTHY, HardwareAccelerator.CPU)
say(ours=CompiledModel is outlive.CompiledModel, signatures=len(model.get_signature_list()))
"""
        + LIBRARIES
    )
    assert facts == {"ours": True, "signatures": 1, "native": []}


def test_other_parts_of_litert_are_its_own() -> None:
    facts = play(
        PROTECT
        + """
from ai_edge_litert import interpreter
from ai_edge_litert import schema_py_generated
say(found=hasattr(schema_py_generated, "ModelT"))
say(ours=issubclass(interpreter.Interpreter, outlive.Interpreter))
"""
        + LIBRARIES
    )
    assert facts["found"]
    assert facts["ours"]
    assert any("libLiteRt" in name for name in facts["native"])


def test_it_can_be_undone() -> None:
    facts = play("""
    outlive.protect()
    outlive.protect()
    from ai_edge_litert.interpreter import Interpreter as guarded
    outlive.unprotect()
    outlive.unprotect()
    from ai_edge_litert.interpreter import Interpreter as plain
    say(plain=issubclass(plain, outlive.Interpreter))
    outlive.protect()
    from ai_edge_litert.interpreter import Interpreter as again
    say(guarded=issubclass(guarded, outlive.Interpreter), again=issubclass(again, outlive.Interpreter))
    say(finders=len([finder for finder in sys.meta_path if "protection" in repr(finder)]))
    """)
    assert facts == {"guarded": True, "plain": False, "again": True, "finders": 1}


def test_what_was_imported_before_is_replaced_too() -> None:
    facts = play("""
    import ai_edge_litert.interpreter
    from ai_edge_litert.interpreter import Interpreter
    real = Interpreter
    outlive.protect()
    say(mine=issubclass(Interpreter, outlive.Interpreter),
        there=issubclass(ai_edge_litert.interpreter.Interpreter, outlive.Interpreter))
    outlive.unprotect()
    say(back=Interpreter is ai_edge_litert.interpreter.Interpreter)
    say(real=issubclass(Interpreter, outlive.Interpreter))
    """)
    assert facts == {"mine": True, "there": True, "back": True, "real": False}


@pytest.fixture
def packages(tmp_path: Path) -> dict[str, str]:
    """Stand-ins for packages that are large or old, laid out as they are."""
    files = {
        "tflite_runtime/__init__.py": "",
        "tflite_runtime/interpreter.py": "raise RuntimeError('the native library was loaded')",
        "tensorflow/__init__.py": "from tensorflow._api.v2 import lite",
        "tensorflow/_api/__init__.py": "",
        "tensorflow/_api/v2/__init__.py": "",
        "tensorflow/_api/v2/lite/__init__.py": (
            "from tensorflow._api.v2.lite import experimental\n"
            "from tensorflow.lite.python.interpreter import Interpreter\n"
            "from tensorflow.lite.python import lite"
        ),
        "tensorflow/_api/v2/lite/experimental/__init__.py": (
            "from tensorflow.lite.python.interpreter import load_delegate\n"
            "from tensorflow.lite.tools.optimize.debugging.python.debugger import QuantizationDebugger"
        ),
        **{
            f"tensorflow/lite/tools/{folder}__init__.py": ""
            for folder in ("", "optimize/", "optimize/debugging/", "optimize/debugging/python/")
        },
        "tensorflow/lite/tools/optimize/debugging/python/debugger.py": (
            "class QuantizationDebugger:\n    pass"
        ),
        "tensorflow/lite/__init__.py": "",
        "tensorflow/lite/python/__init__.py": "",
        "tensorflow/lite/python/lite.py": (
            "class TFLiteConverterBase:\n"
            "    def _convert_and_export_metrics(self, convert):\n"
            "        return convert(self)\n"
        ),
        "tensorflow/lite/python/interpreter.py": (
            "class Interpreter:\n    pass\ndef load_delegate():\n    pass\nother = 5\n"
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return {"PYTHONPATH": f"{tmp_path}:{scenes.PATH}"}


LOOK = """
import inspect
import tensorflow as tf
import tflite_runtime.interpreter as old
from tensorflow.lite.python import interpreter as inner
say(tf=issubclass(tf.lite.Interpreter, outlive.Interpreter), same=inner.Interpreter is tf.lite.Interpreter,
    delegate=tf.lite.experimental.load_delegate is outlive.load_delegate, other=inner.other,
    debugger=tf.lite.experimental.QuantizationDebugger is outlive.QuantizationDebugger,
    old=issubclass(old.Interpreter, outlive.Interpreter), source="other = 5" in inspect.getsource(inner))
"""


CONVERT = """
import contextlib, io, warnings
lines = []
class Converter(tf.lite.lite.TFLiteConverterBase):
    optimizations = ["DEFAULT"]
def convert(data):
    words = io.StringIO()
    with warnings.catch_warnings(record=True) as told, contextlib.redirect_stderr(words):
        warnings.simplefilter("always")
        assert Converter()._convert_and_export_metrics(lambda _: data) is data
    lines.append(words.getvalue())
    return [str(one.message.finding.code) for one in told]
from pathlib import Path
model, small = Path(HEALTHY).read_bytes(), Path(HEALTHY).with_name("healthy_int8.tflite").read_bytes()
say(floats=convert(model), integers=convert(small), none=convert(None))
outlive.unprotect()
say(undone=convert(model), lines=[line.partition(": a ")[0] for line in lines])
"""
# A converter that TensorFlow does not have cannot be set up again elsewhere.
HERE = "outlive: converted in this process, not in a worker"


@pytest.mark.parametrize("late", [False, True], ids=["protected first", "TensorFlow first"])
def test_a_converter_that_gives_floats_where_it_was_to_quantize_is_told(
    packages: dict[str, str], late: bool
) -> None:
    first = "import tensorflow\n" if late else ""
    facts = play(first + PROTECT + "import tensorflow as tf\n" + CONVERT, env=packages)
    lines = [HERE, HERE, HERE, ""]
    assert facts == {"floats": ["Q201"], "integers": [], "none": [], "undone": [], "lines": lines}


@pytest.mark.parametrize("late", [False, True], ids=["protected first", "TensorFlow first"])
def test_tensorflow_and_the_old_runtime_are_guarded(packages: dict[str, str], late: bool) -> None:
    first = "import tensorflow\n" if late else ""
    facts = play(first + PROTECT + LOOK, env=packages)
    assert facts == dict.fromkeys(("tf", "same", "delegate", "debugger", "old", "source"), True) | {
        "other": 5
    }


def test_each_uses_the_runtime_it_stands_for(packages: dict[str, str]) -> None:
    facts = play(
        PROTECT
        + """
import tflite_runtime.interpreter as old
try:
    old.Interpreter(HEALTHY)
except Exception as error:
    say(error=type(error).__name__, text=str(error))
""",
        env=packages,
    )
    assert "the native library was loaded" in facts["text"]  # by the worker: there it may be


DEBUGGED = """
import tensorflow as tf
tf.keras.utils.set_random_seed(19)  # one in sixteen random models is dead after ReLU: XNNPACK refuses it
model = tf.keras.Sequential([
    tf.keras.layers.Input((16, 16, 3)),
    tf.keras.layers.Conv2D(4, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(3),
])
def samples():
    for _ in range(3):
        yield [np.ones((1, 16, 16, 3), np.float32)]
converter = tf.lite.TFLiteConverter.from_keras_model(model)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
converter.representative_dataset = samples
debugger = tf.lite.experimental.QuantizationDebugger(converter=converter, debug_dataset=samples)
debugger.run()
import warnings
plain = tf.lite.TFLiteConverter.from_keras_model(model)
plain.target_spec.supported_types = [tf.uint8]
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always", outlive.SilentFailure)
    plain.convert()
said = [one.message.finding.evidence[-1].fact for one in told if one.category is outlive.SilentFailure]
say(layers=len(debugger.layer_statistics), ours=type(debugger).__module__, unquantized=said)
"""


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="needs the package tensorflow-cpu")
def test_a_notebook_of_tensorflows_survives() -> None:
    program = PROTECT + DEBUGGED + NOTEBOOK.format(module="tensorflow.lite.python.interpreter")
    with scenes.start(program, env={"PYTHONWARNINGS": "ignore"}) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    facts: dict[str, Any] = {}
    for line in out.splitlines():
        facts |= json.loads(line) if line.startswith("{") else {}
    assert (facts["error"], facts["code"], facts["runtime"]) == ("ModelDied", "O109", "tensorflow")
    assert facts["layers"] >= 2
    assert facts["ours"] == "outlive.verbs.debugger"
    assert facts["unquantized"] == ["supported_types asks for uint8"]


def test_protecting_loads_nothing() -> None:
    facts = play(PROTECT + LIBRARIES + "say(modules=[n for n in ('tensorflow',) if n in sys.modules])")
    assert facts == {"native": [], "modules": []}


def test_nothing_is_changed_in_this_process() -> None:
    assert "ai_edge_litert" not in sys.modules
    assert outlive.protect.__module__ == "outlive.jupyter.protection"
