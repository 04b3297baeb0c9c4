"""TensorFlow's converter gave up

What it checks
    The words with which tf.lite.TFLiteConverter gave up, inside outlive.convert, or in an exception that is
    given to outlive.diagnose. Most often an op has no counterpart, and they name it.

Why it matters
    TensorFlow has over a thousand ops, TensorFlow Lite some two hundred. What has no counterpart can be taken
    over as it is (a Flex op, which needs TensorFlow's own interpreter), or under its name (a custom op, which
    needs your own kernel), or not at all.

What to do
    Compute it by other ops, or outside of the model; or allow Flex ops, if the program that runs the model
    has them.

Limits
    The converter names the op and not always the line that made it.
"""

import re

from outlive.interpreter.judge import Call
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule

# Seen in TensorFlow 2.18 and 2.21: tensorflow/compiler/mlir/lite/flatbuffer_export.cc.
_LISTS = re.compile(r"^\s*(Flex|Custom) ops: ([\w, .]+)$", re.MULTILINE)
_NEITHER = re.compile(r"'tf\.(\w+)' op is neither a custom op nor a flex op")
_MOST_NAMED = 8
_FLEX = Remedy(
    "allow Flex ops, which only TensorFlow's own interpreter runs",
    Tag.CHANGES_MODEL,
    command='outlive.convert(..., supported_ops=["TFLITE_BUILTINS", "SELECT_TF_OPS"])',
)
_CUSTOM = Remedy(
    "leave it in as a custom op, for which the program brings its own kernel",
    Tag.CHANGES_MODEL,
    command="outlive.convert(..., allow_custom_ops=True)",
)
_OTHERWISE = Remedy("compute it by other ops, or before or after the model", Tag.CHANGES_MODEL)


@rule("O125", "converter-refused", Severity.ERROR, since="0.1")
def converter_refused(call: Call) -> Sightings:
    if call.problem != "converter-refused":
        return
    lists = dict(_LISTS.findall(call.text))
    listed = [name.strip() for names in lists.values() for name in names.split(",")]
    names = list(dict.fromkeys([*listed, *_NEITHER.findall(call.text)]))
    listing = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
    words = next((line.strip() for line in call.text.splitlines() if line.strip()), "nothing")
    fact = f"not among its ops: {listing}" if names else f"it said: {words[:200]}"
    yield Sighting(
        where=listing or "the converter",
        evidence=(Evidence(fact, "TensorFlow's converter"),),
        why="TensorFlow Lite has no op that computes this" if names else "it could not make a model of this",
        remedies=((_FLEX, _OTHERWISE) if "Flex" in lists else (_OTHERWISE, _CUSTOM)) if names else (),
        fault=Fault.FILE,
        cause="unsupported-op" if names else "",
    )
