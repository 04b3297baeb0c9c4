"""`TFLiteConverter.convert()` under `protect()`: in a worker, with TensorFlow's own bytes and errors.

One program converts everything, so that TensorFlow is loaded once; each test looks at what it said of a case.
"""

from __future__ import annotations

import json
from typing import Any

import psutil
import pytest

from tests.deaths import scenes
from tests.deaths.restrictions import linux_only

pytestmark = linux_only
PATIENCE_S = 900

PROGRAM = """
import contextlib, functools, io, tempfile
outlive.protect()
import psutil
import tensorflow as tf
from tensorflow.lite.python import lite

L, LITE, DEFAULT = tf.keras.layers, tf.lite.TFLiteConverter, [tf.lite.Optimize.DEFAULT]
tf.keras.utils.set_random_seed(5)
tf.keras.Sequential([tf.keras.Input((3,)), L.Dense(2)])  # names that Keras has given away
natives = []
for name in ("_convert_saved_model", "_convert_graphdef"):
    def counted(*a, own=getattr(lite, name), **n):
        natives.append(1)
        return own(*a, **n)
    setattr(lite, name, counted)

def outcome(converter):
    # What a conversion gives, what it says on stderr, and whether this process converted.
    natives.clear()
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            gave = converter.convert()
        except Exception as error:
            gave = f"{type(error).__module__}.{type(error).__name__}: {error}"
            gave = gave if not hasattr(error, "finding") else f"{type(error).__name__} {error.finding.code}"
    own = [line for line in said.getvalue().splitlines() if line.startswith("outlive:")]
    return gave, own, len(natives)

def both(name, make, plain=True, **settings):
    def made():
        converter = make()
        for key, value in settings.items():
            setattr(converter.target_spec if hasattr(converter.target_spec, key) else converter, key, value)
        return converter
    gave, own, here = outcome(made())
    theirs = None
    if plain:
        outlive.unprotect()
        theirs = outcome(made())[0]
        outlive.protect()
    told = gave if isinstance(gave, str) else len(gave)
    say(**{name: {"gave": told, "same": gave == theirs, "own": own, "here": here}})

def data(*shapes):
    def samples():
        chance = np.random.default_rng(0)
        for _ in range(4):
            yield [chance.random((1, *shape), dtype=np.float32) for shape in shapes]
    return samples

net = tf.keras.Sequential([L.Input((8, 8, 3)), L.Conv2D(4, 3, activation="relu"), L.BatchNormalization(),
                           L.Flatten(), L.Dense(3)])
keras = lambda: LITE.from_keras_model(net)
left, right = L.Input((8,)), L.Input((8,), name="other")
two = tf.keras.Model([left, right], L.Concatenate()([L.Dense(4)(left), right * 2.0]))

class Own(L.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 4), name="w")
    def call(self, x):
        return tf.nn.relu6(tf.matmul(x, self.w))
custom = tf.keras.Sequential([L.Input((8,)), Own(), L.Dense(2)])

class Module(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(tf.random.normal((8, 4), seed=1))
    @tf.function(input_signature=[tf.TensorSpec([1, 8])])
    def __call__(self, x):
        return tf.nn.relu(x @ self.v)
module = Module()
function = module.__call__.get_concrete_function()
svd = tf.function(lambda x: tf.linalg.svd(x)[0]).get_concrete_function(tf.TensorSpec([3, 3]))

both("float", keras)
both("integers", keras, optimizations=DEFAULT, representative_dataset=data((8, 8, 3)),
     supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8], inference_input_type=tf.int8,
     inference_output_type=tf.uint8)
both("two inputs", lambda: LITE.from_keras_model(two), optimizations=DEFAULT, supported_types=[tf.float16])
both("own layer", lambda: LITE.from_keras_model(custom), optimizations=DEFAULT)
both("function with variables", lambda: LITE.from_concrete_functions([function], module),
     optimizations=DEFAULT, representative_dataset=data((8,)))
both("function alone", lambda: LITE.from_concrete_functions([function]))
both("custom operator", lambda: LITE.from_concrete_functions([svd]), allow_custom_ops=True)
with tempfile.TemporaryDirectory() as folder:
    with contextlib.redirect_stdout(io.StringIO()):
        net.export(folder)
    both("SavedModel", lambda: LITE.from_saved_model(folder), optimizations=DEFAULT)
both("samples of four", keras, optimizations=DEFAULT,
     representative_dataset=lambda: iter([[np.ones((4, 8, 8, 3), np.float32)]]))
both("tensors as samples", keras, optimizations=DEFAULT,
     representative_dataset=lambda: iter([[tf.ones((1, 8, 8, 3))]]))
both("unknown operator", lambda: LITE.from_concrete_functions([svd]))
both("wrong type", keras, inference_input_type=tf.int8)

def broken():
    yield [np.ones((1, 8, 8, 3), np.float32)]
    raise KeyError("mine")
both("dataset raises", keras, optimizations=DEFAULT, representative_dataset=broken)
both("infinity", keras, plain=False, optimizations=DEFAULT,
     representative_dataset=lambda: iter([[np.full((1, 8, 8, 3), np.inf, np.float32)]]))

def guards():
    return [one for one in psutil.Process().children(recursive=True) if one.name() == "outlive-guard"]
def deadly():
    yield [np.ones((1, 8, 8, 3), np.float32)]
    for one in guards():
        one.send_signal(signal.SIGSEGV)
    yield [np.ones((1, 8, 8, 3), np.float32)]
both("killed", keras, plain=False, optimizations=DEFAULT, representative_dataset=deadly)

class Mine(type(keras())):
    pass
def mine():
    converter = keras()
    converter.__class__ = Mine
    return converter
both("subclass", mine)

class OnlyHere:
    def __reduce__(self):
        return int, ("not a number",)
both("only here", keras, note=OnlyHere())

wide = tf.keras.Sequential([L.Input((3000,)), L.Dense(3000)])
from outlive.verbs import convert as verb
own, verb.guarded = verb.guarded, functools.partial(verb.guarded, memory="20MB")
both("too large", lambda: LITE.from_keras_model(wide), plain=False)
verb.guarded = own

def interrupted():
    yield [np.ones((1, 8, 8, 3), np.float32)]
    os.kill(os.getpid(), signal.SIGINT)
    yield [np.ones((1, 8, 8, 3), np.float32)]
converter = keras()
converter.optimizations, converter.representative_dataset = DEFAULT, interrupted
try:
    converter.convert()
except KeyboardInterrupt:
    say(interrupted=True)
both("after all", keras)
say(parent=os.getpid())
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("temporary")
    with scenes.start(PROGRAM, env={"TMPDIR": str(folder), "PYTHONWARNINGS": "ignore"}) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    facts: dict[str, Any] = {}
    for line in out.splitlines():
        facts |= json.loads(line) if line.startswith("{") else {}
    return {**facts, "left": [path.name for path in folder.iterdir() if path.name.startswith("outlive")]}


@pytest.mark.parametrize(
    "case",
    [
        "float", "integers", "two inputs", "own layer", "function with variables", "function alone",
        "custom operator", "SavedModel", "samples of four", "tensors as samples", "after all",
    ],
)  # fmt: skip
def test_a_worker_gives_tensorflows_bytes(told: dict[str, Any], case: str) -> None:
    assert isinstance(told[case].pop("gave"), int)
    assert told[case] == {"same": True, "own": [], "here": 0}


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ("unknown operator", "tensorflow.lite.python.convert_phase.ConverterError: "),
        ("wrong type", "builtins.ValueError: The inference_input_type"),
        ("dataset raises", "builtins.KeyError: 'mine'"),
    ],
)
def test_errors_are_tensorflows_or_the_datasets(told: dict[str, Any], case: str, error: str) -> None:
    assert told[case]["gave"].startswith(error)
    assert told[case]["same"]
    assert told[case]["own"] == []


@pytest.mark.parametrize(
    ("case", "error"),
    [("infinity", "InputError Q212"), ("killed", "ModelDied D504"), ("too large", "LimitReached D502")],
)
def test_a_death_is_an_error_with_a_finding(told: dict[str, Any], case: str, error: str) -> None:
    assert told[case]["gave"] == error
    assert told[case]["here"] == 0


@pytest.mark.parametrize(
    ("case", "why"), [("subclass", "a worker cannot rebuild a Mine"), ("only here", "it failed there")]
)
def test_what_cannot_be_carried_is_converted_here_with_a_line_that_says_so(
    told: dict[str, Any], case: str, why: str
) -> None:
    assert told[case]["same"]
    assert told[case]["here"] == 1
    [line] = told[case]["own"]
    assert line.startswith(f"outlive: converted in this process, not in a worker: {why}")


def test_an_interrupt_leaves_no_process_and_no_file(told: dict[str, Any]) -> None:
    assert told["interrupted"]
    assert told["left"] == []
    assert not psutil.pid_exists(told["parent"])
    left = [
        one for one in psutil.process_iter(["cmdline"]) if f'"parent": {told["parent"]},' in str(one.info)
    ]
    assert left == []
