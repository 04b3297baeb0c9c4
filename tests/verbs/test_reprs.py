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


def test_every_result_is_one_short_line() -> None:
    model = outlive.read(demo_models.path("healthy"))
    plan = outlive.plan(model, device="raspberry-pi-pico")
    coverage = outlive.delegates(model, only="xnnpack")
    fit = outlive.fit(model, ram="4MB")
    scan = outlive.scan(demo_models.path("healthy"))
    refused = outlive.export(model, device="arduino-uno-r4-minima")
    checks = outlive.check(demo_models.path("deadly"))
    results = [
        model, model.subgraphs[0], plan, plan.placements[0], checks, checks.errors[0], coverage,
        coverage.accelerators[0], fit, fit.chosen, scan, next(iter(scan)), refused, outlive.devices(),
        outlive.cut(model, ops=2), outlive.snippet(model), outlive.report(model, run=False), outlive.doctor(),
    ]  # fmt: skip
    for result in results:
        text = repr(result)
        assert "\n" not in text
        assert len(text) < 300, text
    assert repr(plan).startswith("<Plan ")
    assert ": at most 262 KiB, tight, tflm>" in repr(plan)
    assert repr(checks) == "<Checks: 1 file, 2 findings, 1 error>"
