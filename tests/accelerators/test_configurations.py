"""How accelerators are looked for and asked for; nothing is loaded to find out."""

from __future__ import annotations

from pathlib import Path

import pytest

import outlive
from outlive.accelerators import Accelerator
from outlive.accelerators.configurations import choose_configurations
from outlive.interpreter.ladder import gpu_way, has_gpu, npu_way, software_driver
from tests.accelerators.here import needs_openvino, needs_tensorflow
from tests.accelerators.small_models import line

DRIVER = "usr/lib/chromium/vk_swiftshader_icd.json"


def put(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def tried(name: str, source: bytes = b"") -> Accelerator:
    return outlive.probe(source or line("ADD", "MUL"), only=[name], cache=False)[name]


def test_a_machine_with_a_gpu_uses_its_own_driver(tmp_path: Path) -> None:
    root = put(tmp_path, "dev/dri/renderD128", DRIVER)
    way = gpu_way(root, {})
    assert has_gpu(root)
    assert (dict(way.environment), way.is_software) == ({}, False)


def test_a_machine_without_one_uses_software(tmp_path: Path) -> None:
    way = gpu_way(put(tmp_path, DRIVER), {})
    assert (dict(way.environment), way.is_software) == ({"VK_ICD_FILENAMES": str(tmp_path / DRIVER)}, True)


def test_a_driver_that_the_user_has_named_comes_first(tmp_path: Path) -> None:
    way = gpu_way(put(tmp_path, DRIVER), {"VK_DRIVER_FILES": "/mine.json"})
    assert (dict(way.environment), way.is_software) == ({"VK_DRIVER_FILES": "/mine.json"}, False)


def test_nothing_is_found_where_there_is_nothing(tmp_path: Path) -> None:
    assert not has_gpu(tmp_path)
    assert software_driver(tmp_path) is None
    assert dict(gpu_way(tmp_path, {}).environment) == {}


def test_openvino_is_there_or_its_absence_has_a_remedy() -> None:
    way = npu_way("CPU")
    assert way.missing or way.libraries
    assert not way.missing or "openvino" in way.install


def test_a_mistyped_name_is_told_its_neighbour() -> None:
    with pytest.raises(ValueError, match="'xnpack'; did you mean xnnpack"):
        choose_configurations(["xnpack"])
    with pytest.raises(ValueError, match="choose from reference"):
        choose_configurations(["zzz"])


def test_aliases_and_the_kernels_that_are_always_tried() -> None:
    assert [way.name for way in choose_configurations(["cpu"])] == ["reference", "builtin", "xnnpack"]
    usual = [way.name for way in choose_configurations()]
    assert usual[:5] == ["reference", "builtin", "xnnpack", "gpu", "npu"]
    assert "flex" not in usual
    assert "flex" in [way.name for way in choose_configurations(has_flex=True)]


def test_threads_reach_every_way() -> None:
    for way in choose_configurations(["xnnpack", "gpu"], threads=3):
        if way.compiled is None:
            assert way.arguments["num_threads"] == 3
        else:
            assert way.compiled.options["cpu_options"]["num_threads"] == 3


def test_too_few_threads_are_refused() -> None:
    with pytest.raises(ValueError, match="threads must be at least 1"):
        outlive.probe(line("ADD"), threads=0)


@pytest.mark.parametrize(
    "name", ["xnnpack-threads", "xnnpack-latest", "xnnpack-fp16", "xnnpack-weight-cache"]
)
def test_the_flags_of_xnnpack_that_users_meet(name: str) -> None:
    seen = tried(name)
    assert (seen.outcome, seen.error) == ("runs", "")
    assert seen.milliseconds is not None
    assert seen.peak_bytes is not None


@needs_openvino
def test_openvino_on_its_cpu_backend_takes_the_model_whole() -> None:
    seen = tried("npu")
    assert (seen.outcome, seen.taken, seen.partitions) == ("runs", (0, 1), 1)


@needs_openvino
def test_openvino_that_takes_a_part_says_how_many() -> None:
    seen = tried("npu", line("ADD", "ATAN2", "MUL"))
    assert seen.outcome == "runs"
    assert (seen.ops_taken, seen.taken, seen.partitions) == (2, None, 2)
    assert "does not say which" in seen.notes[0]


@needs_tensorflow
def test_tensorflows_interpreter_runs_models_without_flex_too() -> None:
    seen = tried("flex")
    assert (seen.outcome, seen.ops_taken) == ("runs", 2)
