"""The generator of large models says what it cannot make, and draws what the runtime takes."""

from __future__ import annotations

from pathlib import Path

import pytest

import outlive
from tools import large_networks
from tools.build_large_models import Recipe, build, recipes


def test_a_missing_package_is_named_with_what_it_leaves_out() -> None:
    with pytest.raises(large_networks.PackageMissing) as caught:
        large_networks.find_package("no_such_package", "quantize")
    assert "no_such_package is not installed" in str(caught.value)
    assert "pip install 'outlive[quantize]'" in str(caught.value)


def test_what_cannot_be_made_is_told_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tools.build_large_models import PackageMissing

    def draw(precision: str) -> bytes:
        raise PackageMissing("a package is not installed")

    assert build(Recipe(name="one", precision="int4", draw=draw), tmp_path / "models") is None
    assert "one: not made: a package is not installed" in capsys.readouterr().err
    assert not (tmp_path / "models").exists()


def test_every_kind_has_models_of_every_size() -> None:
    names = [recipe.name for recipe in recipes((5, 300))]
    assert len(set(names)) == len(names)
    for kind in ("half", "int4", "block32", "weights4", "int16x8", "sparse"):
        assert any(name.endswith(f"_{kind}") for name in names), kind
    for family in ("lstm", "gru", "fused-lstm", "conv3d", "open"):
        assert any(name.startswith(f"{family}_") for name in names), family
    assert "open_300MB_block32" in names


@pytest.mark.parametrize("name", ["mobilenet_96_int16x8", "fused-lstm_256_float", "fused-lstm_256_dynamic"])
def test_drawn_models_run(name: str) -> None:
    data = next(recipe for recipe in recipes() if recipe.name == name).build()
    assert not outlive.run(data, "zeros", accelerator="builtin").error_type
