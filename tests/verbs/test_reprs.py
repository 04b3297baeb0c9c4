"""Results are short where Python shows them."""

from __future__ import annotations

import outlive
from outlive import demo_models


def test_a_run_and_a_diagnosis_say_how_it_ended() -> None:
    flight = outlive.run(demo_models.path("deadly"))
    assert repr(flight).endswith("died: SIGSEGV, invoke>")
    assert "ran>" in repr(outlive.run(demo_models.path("healthy").read_bytes()))
    diagnosis = outlive.diagnose(flight)
    assert diagnosis.cause in repr(diagnosis)
    assert max(map(len, map(repr, (flight, diagnosis)))) < 400
