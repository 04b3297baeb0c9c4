"""Instruction sets: every table is whole, and a machine's is found from what the kernel says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlive.kernels.xnnpack.node_memory import instruction_set, instruction_sets, this_machine

AVX2 = "fpu sse2 sse4_1 avx f16c fma avx2"
AVX512 = f"{AVX2} avx512f avx512bw avx512dq avx512vl"
X86 = {
    "fpu sse2 sse4_1": "x86-sse4.1",
    "fpu sse2 sse4_1 avx": "x86-avx",
    "fpu avx avx2 f16c": "x86-avx",
    AVX2: "x86-avx2",
    f"{AVX2} gfni": "x86-avx2",
    f"{AVX2} gfni avx_vnni": "x86-avxvnni",
    f"{AVX2} avx512f": "x86-avx2",
    AVX512: "x86-avx512",
    f"{AVX512} avx512_vnni": "x86-avx512vnni",
    f"{AVX512} avx512_vnni gfni": "x86-avx512vnni-gfni",
    f"{AVX512} avx512_vnni gfni avx_vnni": "x86-avx512vnni-avxvnni",
    f"{AVX512} avx512_vnni gfni avx_vnni amx_int8": "x86-amx",
}
ARM = {
    "fp asimd": "arm64-neon",
    "fp asimd asimddp": "arm64-dotprod",
    "fp asimd asimddp i8mm": "arm64-i8mm",
}


@pytest.mark.parametrize(("flags", "name"), X86.items())
def test_an_x86_is_known_by_its_flags(flags: str, name: str, tmp_path: Path) -> None:
    cpuinfo = tmp_path / "proc" / "cpuinfo"
    cpuinfo.parent.mkdir()
    cpuinfo.write_text(f"processor : 0\nflags\t\t: {flags}\nbugs : none\n")
    assert this_machine(tmp_path, "x86_64") == name


@pytest.mark.parametrize(("features", "name"), ARM.items())
def test_an_arm_is_known_by_its_features(features: str, name: str, tmp_path: Path) -> None:
    cpuinfo = tmp_path / "proc" / "cpuinfo"
    cpuinfo.parent.mkdir()
    cpuinfo.write_text(f"processor\t: 0\nFeatures\t: {features}\n")
    assert this_machine(tmp_path, "aarch64") == name


def test_where_nothing_is_said_a_usual_machine_is_taken(tmp_path: Path) -> None:
    assert this_machine(tmp_path / "none", "AMD64") == "x86-avx2"
    assert this_machine(tmp_path / "none", "arm64") == "arm64-dotprod"


@pytest.mark.parametrize("name", instruction_sets())
def test_every_table_has_the_kernels_that_plans_ask_for(name: str) -> None:
    tiles = instruction_set(name)
    for kind in ("f32_gemm", "f32_igemm", "qs8_qc8w_gemm", "qu8_gemm", "qd8_f32_qc8w_gemm"):
        tile = tiles.gemm[kind]
        assert 0 < tile.mr <= 16
        assert tile.nr > 0
        assert tile.heights
        assert max(tile.heights) == tile.mr
    for kernels in (tiles.depthwise["f32"], tiles.depthwise["qs8_qc8w"], tiles.depthwise["qu8"]):
        assert {9, 25} <= dict(kernels).keys()
