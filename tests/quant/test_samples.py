"""Samples of every form are the same samples, and what cannot be used is refused before it is used."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.quant import samples as samples_module
from outlive.quant.samples import Samples, random_samples
from outlive.verbs.judging import JUDGE
from tests.quant.networks import SIZE, dense_float, dense_int8, samples, weights

MODEL = outlive.read(dense_float(weights()))
GIVEN = samples(4)
STACKED = np.concatenate(GIVEN)


def forms(folder: Path) -> dict[str, Any]:
    np.savez(folder / "all.npz", x=STACKED)
    np.savez(folder / "nameless.npz", STACKED)
    np.save(folder / "all.npy", STACKED)
    (folder / "many").mkdir()
    for number, value in enumerate(GIVEN):
        np.save(folder / "many" / f"{number}.npy", value)
    (folder / "many" / "README.txt").write_text("no sample")
    return {
        "list of arrays": GIVEN,
        "list of mappings": [{"x": value} for value in GIVEN],
        "list of lists": [[value] for value in GIVEN],
        "generator": (value for value in GIVEN),
        "function": lambda: iter(GIVEN),
        "array": STACKED,
        "array with a batch of its own": STACKED[:, np.newaxis],
        "mapping of arrays": {"x": STACKED},
        "float64": STACKED.astype(np.float64),
        ".npz": folder / "all.npz",
        "nameless .npz": str(folder / "nameless.npz"),
        ".npy": folder / "all.npy",
        "folder": folder / "many",
    }


def test_all_forms_give_the_same_samples_as_often_as_wanted(tmp_path: Path) -> None:
    for form, given in forms(tmp_path).items():
        with Samples(given, MODEL, JUDGE) as stream:
            for _ in range(2):
                found = [feed[0] for feed in stream]
                assert stream.count == len(GIVEN), form
                assert all(np.array_equal(one, two) for one, two in zip(found, GIVEN, strict=True)), form
                assert all(one.dtype == np.float32 and one.shape == (1, SIZE) for one in found), form
            assert (stream.seen[0].low, stream.seen[0].high) == (STACKED.min(), STACKED.max()), form


def test_samples_that_come_once_can_be_left_and_taken_up_again() -> None:
    with Samples(iter(GIVEN), MODEL, JUDGE) as stream:
        first = iter(stream)
        next(first)
        next(first)
        first.close()  # type: ignore[attr-defined]
        again = [feed[0] for feed in stream]
    assert all(np.array_equal(one, two) for one, two in zip(again, GIVEN, strict=True))


def test_temporary_files_are_removed() -> None:
    stream = Samples(iter(GIVEN), MODEL, JUDGE)
    list(stream)
    folder = stream._scratch
    assert list(folder.iterdir())
    stream.close()
    assert not folder.exists()
    forgotten = Samples(iter(GIVEN), MODEL, JUDGE)
    folder = forgotten._scratch
    assert folder.exists()
    del forgotten
    gc.collect()
    assert not folder.exists()


def odd(value: float) -> Any:
    bad = GIVEN[1].copy()
    bad[0, 3] = value
    return [GIVEN[0], bad]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        pytest.param([], "Q210", id="none"),
        pytest.param(np.zeros((0, SIZE), np.float32), "Q210", id="empty array"),
        pytest.param(odd(np.nan), "Q211", id="NaN"),
        pytest.param(odd(np.inf), "Q212", id="infinity"),
        pytest.param([np.zeros(SIZE, np.float32)], "I201", id="missing batch"),
        pytest.param([np.zeros((1, SIZE + 1), np.float32)], "I203", id="wrong shape"),
        pytest.param([np.zeros((1, SIZE), np.uint8)], "I204", id="bytes"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_finding(given: Any, code: str) -> None:
    for use in (
        lambda: outlive.quantize(MODEL, "static-int8", given),
        lambda: outlive.compare(MODEL, MODEL, given),
    ):
        with pytest.raises(outlive.InputError) as caught:
            use()
        assert caught.value.finding.code == code


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (5, "samples are arrays"),
        ("nowhere.npz", "no samples at 'nowhere.npz'"),
        ([{"y": GIVEN[0]}], "no input is named 'y'"),
        ([{}], "no value for input 'x'"),
    ],
)
def test_mistakes_are_told(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        list(Samples(given, MODEL, JUDGE))


def test_pictures_are_brought_to_the_inputs_size(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image")
    from outlive.surgery import write
    from tests.model.small import tensor, tree

    rows = [tensor("image", "FLOAT32", [1, 4, 6, 3]), tensor("y", "FLOAT32", [1, 4, 6, 3])]
    model = outlive.read(write(tree(rows, operators=[{"opcode_index": 0, "inputs": [0], "outputs": [1]}])))
    image_module.new("RGB", (60, 40), (255, 0, 51)).save(tmp_path / "photo.png")
    [[picture]] = list(Samples(tmp_path, model, JUDGE))
    assert picture.shape == (1, 4, 6, 3)
    assert picture[0, 2, 3] == pytest.approx([1.0, 0.0, 0.2])


def test_integers_of_a_quantized_input_mean_what_they_stand_for() -> None:
    matrices = weights()
    whole = dense_int8(matrices, GIVEN)
    inner = outlive.cut(whole, ops="1:5").model  # without QUANTIZE and DEQUANTIZE: int8 in and out
    by_reals = outlive.compare(dense_float(matrices), inner, GIVEN)
    by_itself = outlive.compare(inner, inner, GIVEN)
    assert by_reals.input_ranges[0].can_hold is not None
    assert by_reals.tensors[0].op_type == "INPUT"
    assert by_itself.outputs[0].argmax_agreement == 1


def test_random_samples_are_seeded() -> None:
    one, two = list(random_samples(MODEL, 3)), list(random_samples(MODEL, 3))
    assert all(np.array_equal(left[0], right[0]) for left, right in zip(one, two, strict=True))
    drift = outlive.compare(MODEL, MODEL)
    assert any("no samples given" in note for note in drift.notes)


def test_a_large_array_of_the_users_is_never_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is cut short while it is mapped ends whoever looks at it by SIGBUS."""
    monkeypatch.setattr(samples_module, "_WHOLE_BYTES", 64)
    path = tmp_path / "all.npy"
    np.save(path, STACKED)
    with Samples(path, MODEL, JUDGE) as samples:
        feeds = iter(samples)
        next(feeds)
        os.truncate(path, 0)
        rest = [feed[0] for feed in feeds]
    assert all(np.array_equal(one, two) for one, two in zip(rest, GIVEN[1:], strict=True))
