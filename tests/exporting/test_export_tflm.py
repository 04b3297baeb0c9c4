"""The export for TensorFlow Lite Micro compiles, holds the model byte for byte, and plans its arena."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive import demo_models
from outlive.exporting.micro import FILES, Export, export_micro
from outlive.kernels.tables import read_table
from outlive.model import read_source
from tests.exporting import port_models
from tests.exporting.compilers import compile_cpp, needs
from tests.surgery import cut_models


def exported(source: Any, folder: Path | None = None, **options: Any) -> Export:
    model = outlive.read(source)
    kernels = options.get("kernels", "reference")
    plan = outlive.plan(model, "tflm", abi=options.get("abi"), kernels=kernels)
    made = export_micro(model, plan, **options)
    for name, text in made.files if folder is not None else ():
        assert folder is not None
        (folder / name).write_text(text, "utf-8")
    return made


def compile_export(folder: Path) -> None:
    for name in ("main.cc", "model_data.cc"):
        compile_cpp(folder / name, "-Wno-overlength-strings", "-fsyntax-only", interface="tflm")


def constants(made: Export) -> dict[str, int]:
    header = dict(made.files)["model_data.h"]
    return {name: int(value) for name, value in re.findall(r"size_t (k\w+) = (\d+);", header)}


def test_the_table_is_that_of_the_planner() -> None:
    """Whatever the planner takes can be registered: each operator has a function of the resolver."""
    table = read_table("tflm")
    rows = [row for section in ("builtin", "custom") for row in table[section].values()]
    assert all(re.fullmatch(r"Add\w+", row["add"]) for row in rows)
    assert len({row["add"] for row in rows}) == len(rows)


@needs("g++")
@pytest.mark.parametrize("name", ["healthy", "healthy_int8", "wasteful"])
def test_demo_models_compile(name: str, tmp_path: Path) -> None:
    made = exported(demo_models.path(name), tmp_path)
    assert [name for name, _ in made.files] == list(FILES)
    compile_export(tmp_path)


@needs("g++")
def test_variables_and_hostile_names_compile(tmp_path: Path) -> None:
    made = exported(cut_models.counting(), tmp_path)
    assert made.arena.variables == 1
    assert "MicroResourceVariables::Create(allocator, 1)" in dict(made.files)["main.cc"]
    compile_export(tmp_path)
    for build in (port_models.hostile, port_models.ordinary):
        exported(build(), tmp_path)
        compile_export(tmp_path)
    for kind in ("INT8", "UINT8", "INT16"):
        exported(port_models.quantized(kind, 0.5, 1), tmp_path)
        compile_export(tmp_path)


@needs("g++")
def test_the_array_is_the_model(tmp_path: Path) -> None:
    path = demo_models.path("healthy_int8")
    made = exported(path, tmp_path)
    library = tmp_path / "model.so"
    compile_cpp(tmp_path / "model_data.cc", "-shared", "-fPIC", "-o", str(library), interface="tflm")
    loaded = ctypes.CDLL(str(library))
    symbol = f"_ZN{len(made.name)}{made.name}6kModelE"
    array = (ctypes.c_ubyte * made.model_bytes).in_dll(loaded, symbol)
    assert bytes(array) == path.read_bytes()
    assert ctypes.addressof(array) % 16 == 0


def test_the_arena_is_the_plan_and_its_margin() -> None:
    path = demo_models.path("healthy_int8")
    plan = outlive.plan(path, "tflm")
    assert plan.min_arena_bytes is not None
    found = constants(exported(path))
    assert found["kArenaPlannedBytes"] == plan.min_arena_bytes
    assert found["kArenaMarginBytes"] >= max(256, 0.05 * plan.min_arena_bytes) - 16
    assert constants(exported(path, margin="0%"))["kArenaMarginBytes"] == 0
    assert constants(exported(path, margin="1KiB"))["kArenaMarginBytes"] == 1024
    wide = constants(exported(path, abi="host64"))
    assert wide["kArenaPlannedBytes"] == outlive.plan(path, "tflm", abi="host64").min_arena_bytes
    assert wide["kArenaPlannedBytes"] > found["kArenaPlannedBytes"]


@pytest.mark.parametrize("margin", ["-5%", "x%", "nan%", "lots", "99999%"])
def test_margins_that_make_no_sense_are_refused(margin: str) -> None:
    with pytest.raises(ValueError, match=r"no margin|not a size"):
        exported(demo_models.path("healthy_int8"), margin=margin)


def test_only_the_operators_in_use_are_registered() -> None:
    path = demo_models.path("healthy_int8")
    made = exported(path)
    kinds = {op.type for op in outlive.read(path).operators()}
    text = dict(made.files)["model_ops.h"]
    assert {adder.operator for adder in made.adders} == kinds
    assert text.count("resolver.Add") == len(kinds)
    assert f"MicroMutableOpResolver<{len(kinds)}>" in text


@needs("g++")
@pytest.mark.parametrize("name", ["sin", "free", "round", "model"])
def test_files_may_be_called_as_functions_of_c(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.tflite").write_bytes(port_models.quantized("INT8", 0.5, 1))
    assert exported(tmp_path / f"{name}.tflite", tmp_path).name == f"model_{name}"
    compile_export(tmp_path)


def test_names_of_namespaces() -> None:
    path = demo_models.path("healthy_int8")
    assert exported(path).name == "model_healthy_int8"
    assert exported(path, name="doorbell").name == "doorbell"
    for bad in ("Door Bell", "class", "9lives", "sin", ""):
        with pytest.raises(ValueError, match="cannot be the name of a namespace"):
            exported(path, name=bad)


def test_a_model_that_micro_refuses_is_not_exported() -> None:
    model = outlive.read(port_models.several()["texts"])
    plan = outlive.plan(model, "tflm")
    assert plan.refusals
    with pytest.raises(ValueError, match="refuses this model"):
        export_micro(model, plan)


def _taken(path: Path) -> Export | None:
    model = read_source(path).model
    if model is None or model.flaws:
        return None
    plan = outlive.plan(model, "tflm")
    if plan.refusals or model.file_bytes > 400_000:
        return None
    try:
        return export_micro(model, plan)
    except ValueError:
        return None


@needs("g++")
@pytest.mark.corpus
def test_corpus_models_compile(corpus_models: tuple[Path, ...], tmp_path: Path) -> None:
    """Some of those that Micro takes: their main and resolver, and now and then the array."""
    taken = [(path, made) for path in corpus_models if (made := _taken(path))]
    assert len(taken) > 15
    for place, (_, made) in enumerate(taken[::3]):
        for name, text in made.files:
            (tmp_path / name).write_text(text, "utf-8")
        names = ("main.cc", "model_data.cc") if place % 5 == 0 else ("main.cc",)
        for name in names:
            compile_cpp(tmp_path / name, interface="tflm")
