"""Results where a person looks at them: one short line, a card, rows for pandas, len() and []."""

from __future__ import annotations

import builtins
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive import demo_models, results
from outlive.finding import Evidence, Fault, Finding, Severity
from outlive.kernel_deaths.record import KernelDeaths, Record
from outlive.meter import Point
from outlive.results import LONGEST_REPR, Listed, Result, Summary
from outlive.verbs.blackbox import explain_death

HEALTHY, TWIN, DEADLY = (str(demo_models.path(name)) for name in ("healthy", "healthy_int8", "deadly"))
EVIL = "\x1b[31m\n'\"<b>" * 400


def grow(kept: list[bytes] = []) -> None:  # noqa: B006
    kept.append(bytes(200_000))


def deaths() -> KernelDeaths:
    record = Record(name="a1", busy=True, cell_number=3, cell_source="x", status=11)
    return KernelDeaths(deaths=(explain_death(record),))


# What each verb gives, and how the line begins.
MADE: dict[str, tuple[Callable[[], Any], str]] = {
    "read": (lambda: outlive.read(HEALTHY), "Model(healthy.tflite: 43.6 KiB, 16 operators, image float32 ->"),
    "plan": (lambda: outlive.plan(HEALTHY, ram="8MB"), "Plan(healthy.tflite: at most "),
    "check": (lambda: outlive.check(DEADLY), "Checks(deadly.tflite: 2 findings, 1 error)"),
    "finding": (
        lambda: outlive.check(DEADLY)[0],
        "Finding(error[O109]: Invalid operator option: radius = -16)",
    ),
    "run": (lambda: outlive.run(HEALTHY), "Flight(healthy.tflite: ran)"),
    "death": (lambda: outlive.run(DEADLY), "Flight(deadly.tflite: died, SIGSEGV in invoke)"),
    "diagnose": (lambda: outlive.diagnose(DEADLY), "Diagnosis(deadly.tflite: option-out-of-range, O109 "),
    "compare": (lambda: outlive.compare(HEALTHY, TWIN), "Drift(healthy_int8.tflite against healthy.tflite: "),
    "fit": (lambda: outlive.fit(HEALTHY, ram="4MB"), "Fit(healthy.tflite: "),
    "delegates": (lambda: outlive.delegates(HEALTHY, only="xnnpack"), "Coverage(healthy.tflite: "),
    "leak": (lambda: outlive.leak(grow, seconds=20), "Growth(grow: leaks "),
    "quantize": (lambda: outlive.quantize(HEALTHY, "dynamic-int8"), "Quantized(dynamic-int8: 11 of 16 "),
    "cut": (lambda: outlive.cut(HEALTHY, ops=range(3)), "Cut(healthy.tflite: 3 operators, "),
    "scan": (lambda: outlive.scan([HEALTHY, TWIN]), "Scan(2 files: 0 died)"),
    "autopsy": (lambda: outlive.autopsy("Segmentation fault (core dumped)"), "Autopsy("),
    "export": (lambda: outlive.export(HEALTHY, device="esp32-s3"), ""),
    "report": (lambda: outlive.report(HEALTHY, run=False), "ModelReport(healthy.tflite: 1 finding)"),
    "doctor": (outlive.doctor, "Environment("),
    "devices": (outlive.devices, "Devices("),
    "blackbox": (deaths, "KernelDeaths(1 death: cell [3], "),
}


@cache
def made(name: str) -> Any:
    return MADE[name][0]()


@pytest.mark.parametrize("name", MADE)
def test_a_result_is_one_short_line(name: str) -> None:
    text = repr(made(name))
    assert text.startswith(MADE[name][1])
    assert text.startswith(f"{type(made(name)).__name__}(")
    assert text.endswith(")")
    assert len(text) <= LONGEST_REPR
    assert text.isprintable()


def every_class(base: type) -> Iterator[type]:
    for found in base.__subclasses__():
        yield found
        yield from every_class(found)


def result_classes() -> list[type]:
    for module in pkgutil.walk_packages(outlive.__path__, "outlive."):
        if ".child" not in module.name and not module.name.startswith(("outlive.rules.", "outlive.__main__")):
            importlib.import_module(module.name)
    return [one for one in every_class(Summary) if one.__module__.startswith("outlive.")]


def test_every_class_of_a_result_has_its_line_and_its_page() -> None:
    from outlive.rendering import pages

    drawn = {module.name for module in pkgutil.iter_modules(pages.__path__)}
    classes = result_classes()
    assert len(classes) > 25
    for one in classes:
        assert one.__repr__ is Summary.__repr__, f"{one.__name__}: its dataclass needs repr=False"
        if one not in (Result, Listed):
            assert one._summary is not Summary._summary, one.__name__
        if issubclass(one, Result):
            assert getattr(one, "kind", "finding") in drawn, one.__name__


def test_every_public_class_with_a_kind_is_a_result() -> None:
    public = [getattr(outlive, name) for name in outlive.__all__]
    named = [one for one in public if isinstance(one, type) and isinstance(getattr(one, "kind", None), str)]
    assert len(named) > 12
    assert [one.__name__ for one in named if not issubclass(one, Result)] == ["Row"]  # of a Scan


def test_a_strangers_names_are_cut_and_escaped() -> None:
    finding = Finding(
        code="D504", name="x", severity=Severity.ERROR, headline=EVIL, where=EVIL, why=EVIL, remedies=(),
        evidence=(Evidence(fact=EVIL, source=EVIL),), confidence=EVIL, fault=Fault.FILE,
    )  # fmt: skip
    for thing in (finding, outlive.Flight(died=True, stage=EVIL, signal=EVIL, source=EVIL)):
        assert len(repr(thing)) == LONGEST_REPR
        assert repr(thing).isprintable()


def test_what_is_half_made_can_be_shown() -> None:
    for one in result_classes():
        assert repr(object.__new__(one)).startswith(f"{one.__name__}(")


def test_a_line_loads_nothing_heavy() -> None:
    from tests.house.startup import loaded_by

    code = f"import outlive; repr(outlive.check({DEADLY!r})); repr(outlive.read({HEALTHY!r}))"
    source = Path(outlive.__file__).parents[1]
    assert [one for one in loaded_by(code, source) if "numpy" not in one] == []


@pytest.mark.parametrize(
    ("name", "table", "columns"),
    [
        ("read", "", {"index", "name", "shape", "dtype"}),
        ("read", "operators", {"index", "type", "inputs"}),
        ("plan", "", {"tensor", "name", "offset_bytes", "size_bytes", "first_op", "last_op"}),
        ("plan", "ops", {"index", "type", "live_bytes"}),
        ("check", "", {"code", "severity", "headline", "where"}),
        ("compare", "", {"name", "op.index", "metrics.sqnr_db"}),
        ("compare", "outputs", {"name", "metrics.sqnr_db"}),
        ("fit", "", {"name", "recipe", "peak_bytes", "verdict"}),
        ("delegates", "", {"name", "available", "ops_taken", "milliseconds"}),
        ("leak", "", {"cycle", "bytes_per_iteration", "low", "high", "verdict"}),
        ("run", "", {"seconds", "bytes", "rss_bytes", "mark"}),
        ("run", "outputs", {"name", "shape", "min", "max"}),
        ("scan", "", {"path", "outcome", "peak_bytes"}),
        ("quantize", "", {"op", "type", "quantized"}),
        ("devices", "", {"name", "ram_bytes"}),
        ("doctor", "", {"name", "state"}),
        ("autopsy", "", {"meaning"}),
        ("diagnose", "", {"name"}),
        ("finding", "", {"fact", "source"}),
        ("blackbox", "", {"name", "cell.number", "signal"}),
    ],
)
def test_rows_are_a_data_frame(name: str, table: str, columns: set[str]) -> None:
    pytest.importorskip("pandas", reason="to_pandas() needs pandas: pip install pandas")
    frame = made(name).to_pandas(table)
    assert columns <= set(frame.columns), sorted(frame.columns)
    assert len(frame) == len(made(name)._rows(table or made(name).tables[0][0])) > 0


def test_sizes_are_numbers_and_what_is_not_finite_too() -> None:
    pandas = pytest.importorskip("pandas", reason="to_pandas() needs pandas: pip install pandas")
    plan = made("plan")
    frame = plan.to_pandas()
    assert int(frame["size_bytes"].sum()) == sum(place.size_bytes for place in plan.placements)
    drift = outlive.compare(HEALTHY, HEALTHY).to_pandas()
    assert drift["metrics.sqnr_db"].tolist() == [float("inf")] * len(drift)  # equal models
    assert pandas.api.types.is_float_dtype(drift["metrics.sqnr_db"])


def test_a_table_without_rows_has_its_columns() -> None:
    pytest.importorskip("pandas", reason="to_pandas() needs pandas: pip install pandas")
    frame = outlive.Flight(died=False, stage="free").to_pandas()
    assert len(frame) == 0
    assert list(frame["bytes"]) == []


def test_a_part_that_some_rows_lack_has_the_columns_of_its_fields() -> None:
    pytest.importorskip("pandas", reason="to_pandas() needs pandas: pip install pandas")
    frame = made("check").to_pandas()  # one of its findings is about an operator
    assert {"op.index", "op.type"} <= set(frame.columns)
    assert "op" not in frame.columns


def test_without_pandas_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    flight = outlive.Flight(died=False, stage="free", timeline=(Point(seconds=0.0, bytes=1, rss_bytes=2),))
    real = builtins.__import__

    def refuse(name: str, *more: Any, **given: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *more, **given)

    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"^to_pandas\(\) needs pandas: pip install pandas$"):
        flight.to_pandas()


def test_a_table_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="no table 'opps' in a Plan; its tables: placements, ops, parts"):
        made("plan").to_pandas("opps")
    with pytest.raises(ValueError, match="no table '' in a Cut; its tables: none"):
        made("cut").to_pandas()


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("check", "O109"), ("compare", "probabilities"), ("fit", "none"), ("delegates", "xnnpack"),
        ("leak", "call"), ("scan", "healthy.tflite"), ("devices", "raspberry-pi-pico"), ("blackbox", "a1"),
        ("doctor", ""),
    ],
)  # fmt: skip
def test_a_list_of_rows_is_used_as_one(name: str, key: str) -> None:
    result = made(name)
    rows = list(result)
    assert isinstance(result, Listed)
    assert len(result) == len(rows) > 0
    assert result[0] == rows[0]
    assert result[-1] == rows[-1]
    assert result[:1] == (rows[0],)
    key = key or rows[0].name
    assert key in result
    assert result[key] in rows
    assert rows[-1] in result
    assert "no such name" not in result
    with pytest.raises(KeyError):
        result["no such name"]
    with pytest.raises(IndexError):
        result[len(rows)]


def test_a_device_is_found_by_its_other_names() -> None:
    found = outlive.devices()
    device = next(one for one in found if one.aliases)
    assert found[device.aliases[0]] is device


def test_without_a_medium_there_is_no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "draw_card", None)
    assert made("plan")._repr_html_() is None
