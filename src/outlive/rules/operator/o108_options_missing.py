"""an operator lacks the options that it cannot do without

What it checks
    That operators which divide, count or choose by an option have the table with their options, and not
    that of another operator.

Why it matters
    Without the table all options are zero: strides, counts and sizes of zero make kernels refuse, divide
    by zero, or read past lists.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Operators for which zero is a fair choice of all options are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.option_tables import lacks_options
from outlive.rules.operator.scene import Scene, scenes, sight_some


@rule("O108", "options-missing", Severity.ERROR, since="0.1", cause="options-missing")
def options_missing(model: Model) -> Iterator[Sighting]:
    """See the module."""
    yield from sight_some(
        model, scenes(model), _faults, "without its table, every option is taken to be zero"
    )


def _faults(scene: Scene) -> Iterator[str]:
    fault = lacks_options(scene.operator)
    if fault:
        yield fault
