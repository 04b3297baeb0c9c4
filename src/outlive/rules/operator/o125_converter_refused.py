"""TensorFlow's converter refused the model

What it checks
    The error of tf.lite.TFLiteConverter in outlive.convert, or in an exception that you pass to
    outlive.diagnose. In most cases an op has no TensorFlow Lite counterpart, and the error names it.

Why it matters
    TensorFlow has over a thousand ops, TensorFlow Lite about two hundred. An op without a counterpart
    becomes a Flex op, which needs TensorFlow's own interpreter, or a custom op, which needs your own
    kernel. Otherwise the converter refuses the model.

What to do
    Replace the op by other ops, or move it out of the model. If the program that runs the model has the
    Flex delegate, allow Flex ops.

Limits
    The converter names the op, but not always the line of your code that created it.
"""

import re

from outlive.interpreter.judge import Call
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule

# Seen in TensorFlow 2.18 and 2.21: tensorflow/compiler/mlir/lite/flatbuffer_export.cc.
_LISTS = re.compile(r"^\s*(Flex|Custom) ops: ([\w, .]+)$", re.MULTILINE)
_NEITHER = re.compile(r"'tf\.(\w+)' op is neither a custom op nor a flex op")
_MOST_NAMED = 8
_FLEX = Remedy(
    "allow Flex ops, which only TensorFlow's interpreter runs",
    Tag.CHANGES_MODEL,
    command='outlive.convert(..., supported_ops=["TFLITE_BUILTINS", "SELECT_TF_OPS"])',
)
_CUSTOM = Remedy(
    "keep the op as a custom op, and register your own kernel",
    Tag.CHANGES_MODEL,
    command="outlive.convert(..., allow_custom_ops=True)",
)
_OTHERWISE = Remedy("replace the op by other ops, or move it out of the model", Tag.CHANGES_MODEL)


@rule("O125", "converter-refused", Severity.ERROR, since="0.1")
def converter_refused(call: Call) -> Sightings:
    if call.problem != "converter-refused":
        return
    lists = dict(_LISTS.findall(call.text))
    listed = [name.strip() for names in lists.values() for name in names.split(",")]
    names = list(dict.fromkeys([*listed, *_NEITHER.findall(call.text)]))
    listing = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
    words = next((line.strip() for line in call.text.splitlines() if line.strip()), "nothing")
    fact = f"no TensorFlow Lite op for {listing}" if names else f"error: {words[:200]}"
    yield Sighting(
        value=f"no op for {listing}" if names else words[:200],
        where=listing or "tf.lite.TFLiteConverter",
        evidence=(Evidence(fact, "TensorFlow's converter"),),
        why="TensorFlow Lite has fewer ops than TensorFlow"
        if names
        else "the converter could not convert it",
        remedies=((_FLEX, _OTHERWISE) if "Flex" in lists else (_OTHERWISE, _CUSTOM)) if names else (),
        fault=Fault.FILE,
        cause="unsupported-op" if names else "",
    )
