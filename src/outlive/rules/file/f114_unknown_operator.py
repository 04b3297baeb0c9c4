"""the model uses an operator that is not in the known schema

What it checks
    The code of every operator against the schema.

Why it matters
    A runtime that does not know the operator refuses the model. It would run only with a runtime newer
    than ai-edge-litert 2.3.

What to do
    Update outlive and the runtime, or convert the model for an older runtime.

Limits
    The schema known here is the one of ai-edge-litert 2.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F114", "unknown-operator", Severity.WARNING, since="0.1", cause="unsupported-op")
def unknown_operator(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = "it comes from a newer converter, or the byte is damaged"
    yield from sight_flaws(file, "unknown-operator", why)
