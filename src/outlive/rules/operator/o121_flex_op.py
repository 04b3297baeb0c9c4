"""an operator of TensorFlow itself needs the Flex delegate

What it checks
    Operators whose name begins with Flex: TensorFlow's own, which the converter let through
    (SELECT_TF_OPS).

Why it matters
    LiteRT has no Flex delegate: the model is refused when tensors are allocated. TensorFlow's interpreter
    has one.

What to do
    Run it with tf.lite.Interpreter, or convert without SELECT_TF_OPS.

Limits
    On phones the Flex delegate is a library of its own that an application can bring along.
"""

from outlive.model import Model
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.operator.operator_kinds import flex_name, kinds_of
from outlive.rules.operator.prepared import sight


@rule("O121", "flex-op", Severity.ERROR, since="0.1", cause="flex-op")
def flex_op(model: Model) -> Sightings:
    for name, op, count in kinds_of(
        model, lambda operator: operator.is_custom and bool(flex_name(operator.name))
    ):
        facts = [f"{count} of it; it is TensorFlow's {flex_name(name)}"]
        remedies = (
            Remedy("run it with TensorFlow's own interpreter", Tag.SAME_RESULTS),
            Remedy("convert it without SELECT_TF_OPS", Tag.CHANGES_MODEL),
        )
        yield sight(model, op, facts, "the converter was allowed to keep operators of TensorFlow", remedies)
