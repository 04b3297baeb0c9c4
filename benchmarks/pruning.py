"""Memory and time that pruning saves with LiteRT: `python benchmarks/pruning.py [--quick]`.

Weights of models are set to zero, the smallest first, up to a share of them. The file is measured as it is,
compressed, and with its weights stored sparsely; the memory is the most that a worker took to load, allocate
and run it. Models of the corpus that were pruned by those who made them are measured as they are.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, write_results

import outlive
from outlive import demo_models
from outlive.model import Model
from outlive.model.zeros import count_zeros
from outlive.planning.file_read import measure_sparsity
from outlive.surgery import tree_of, write

PACKAGES = ("outlive", "ai-edge-litert", "numpy")
REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared") / "models"
SHARES = (0.0, 0.5, 0.8, 0.95)
# Pruned by those who made them: the first two are the same network, dense and sparse.
AS_THEY_ARE = ("face_detection_full_range", "face_detection_full_range_sparse", "hand_landmark_full")
TO_PRUNE = ("FaceAntiSpoofing", "yamnet_audio_classifier_with_metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One form of one model."""

    model: str
    pruned: float | None
    form: str
    file_bytes: int
    compressed_bytes: int
    peak_bytes_cpu: int | None
    peak_bytes_builtin: int | None


def prune(model: Model, share: float) -> bytes:
    """The model with that share of each weight set to zero, the smallest first."""
    tree = tree_of(model.content)
    for weight in count_zeros(model):
        if weight.is_sparse or weight.tensor.dtype not in ("float32", "float16", "int8"):
            continue
        values = np.array(weight.tensor.array())
        size = np.abs(values.astype(np.float32))
        values[size < np.quantile(size, share)] = 0
        tree["buffers"][weight.tensor.buffer_index] = {"data": values}
    return write(tree)


def rows_of(name: str, content: bytes, pruned: float | None = None) -> list[Row]:
    """The model as it is, and with sparse weights where that is smaller."""
    rows = []
    for form in measure_sparsity(outlive.read(content), measuring=True).forms:
        peaks = dict(form.measured_peak_bytes or {})
        rows.append(
            Row(
                model=name,
                pruned=pruned,
                form=form.name,
                file_bytes=form.file_bytes,
                compressed_bytes=form.compressed_bytes,
                peak_bytes_cpu=peaks["cpu"],
                peak_bytes_builtin=peaks["builtin"],
            )
        )
        print_row(rows[-1])
    return rows


def print_row(row: Row) -> None:
    """One line of the table."""
    pruned = "as made" if row.pruned is None else f"{row.pruned:.0%}"
    sizes = (row.file_bytes, row.compressed_bytes, row.peak_bytes_cpu, row.peak_bytes_builtin)
    shown = "  ".join(f"{size or 0:>12,}" for size in sizes)
    print(f"{row.model[:36]:36}  {pruned:>8}  {row.form:14}  {shown}", flush=True)


def sources(quick: bool) -> list[tuple[str, Path, tuple[float | None, ...]]]:
    """Models, and the shares of weights to prune; None leaves them as they were made."""
    found: list[tuple[str, Path, tuple[float | None, ...]]] = [
        ("healthy", demo_models.path("healthy"), (0.0, 0.8) if quick else SHARES)
    ]
    if quick or not CORPUS.is_dir():
        return found
    for name in AS_THEY_ARE:
        found += [(name, path, (None,)) for path in CORPUS.glob(f"*_{name}.tflite")]
    for name in TO_PRUNE:
        found += [(name, path, SHARES) for path in CORPUS.glob(f"*_{name}.tflite")]
    return found


def claims(rows: list[Row]) -> list[Claim]:
    """With XNNPACK, the default, zeros save no memory, and sparse weights cost some."""
    by_place = {(row.model, row.pruned, row.form): row for row in rows}
    dense, sparse = [], []
    for row in rows:
        if row.form != "as it is":
            before = by_place[row.model, row.pruned, "as it is"]
            sparse.append((row.peak_bytes_cpu or 0) / (before.peak_bytes_cpu or 1))
        elif row.pruned:
            whole = by_place[row.model, 0.0, "as it is"]
            dense.append((row.peak_bytes_cpu or 0) / (whole.peak_bytes_cpu or 1))
    return [
        Claim(
            text="the least memory of a pruned model beside that of the model before pruning",
            ratio=min(dense),
            bound=0.97,
            at_least=True,
        ),
        Claim(
            text="the least memory with sparse weights beside that of the same weights stored densely",
            ratio=min(sparse),
            bound=1.0,
            at_least=True,
        ),
    ]


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the demo model only, no results written")
    quick = parser.parse_args().quick
    rows: list[Row] = []
    for name, path, shares in sources(quick):
        for share in shares:
            content = path.read_bytes() if not share else prune(outlive.read(path), share)
            rows += rows_of(name, content, share)
    checked = claims(rows)
    print(*checked, sep="\n")
    if quick:
        return 0
    print(
        f"written to {write_results('pruning', PACKAGES, checked, {'rows': [asdict(row) for row in rows]})}"
    )
    return 0 if all(claim.holds for claim in checked) else 1


if __name__ == "__main__":
    sys.exit(main())
