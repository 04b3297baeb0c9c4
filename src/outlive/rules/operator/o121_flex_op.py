"""Needs the Flex delegate

What it checks
    No operator has a name that begins with Flex. These are TensorFlow operators that the converter kept
    (SELECT_TF_OPS).

Why it matters
    LiteRT has no Flex delegate and refuses the model in allocate_tensors(). TensorFlow's interpreter
    has the delegate.

What to do
    Run the model with tf.lite.Interpreter, or convert it without SELECT_TF_OPS.

Limits
    On phones, an application can link the Flex delegate as a separate library.
"""

from outlive.model import Model
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.operator.operator_kinds import flex_name, kinds_of
from outlive.rules.operator.prepared import sight
from outlive.units import plural


@rule("O121", "flex-op", Severity.ERROR, since="0.1", cause="flex-op")
def flex_op(model: Model) -> Sightings:
    for name, op, count in kinds_of(
        model, lambda operator: operator.is_custom and bool(flex_name(operator.name))
    ):
        facts = [f"{name}; used {plural(count, 'time')}, LiteRT has no kernel for TensorFlow ops"]
        remedies = (
            Remedy("run the model with TensorFlow's interpreter", Tag.SAME_RESULTS),
            Remedy("convert the model without SELECT_TF_OPS", Tag.CHANGES_MODEL),
        )
        yield sight(model, op, facts, "the converter may keep TensorFlow operators (SELECT_TF_OPS)", remedies)
