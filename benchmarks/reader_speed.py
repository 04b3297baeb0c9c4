"""How fast a model is read, beside LiteRT's own tool: `python benchmarks/reader_speed.py [--quick]`.

Ours is `outlive.read(path)`; theirs is `ai_edge_litert.tools.flatbuffer_utils.read_model(path)`, which turns
the whole file into Python objects. One series of models grows in weights, the other in operators.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import Claim, Contestant, time_in_turns, write_results

from outlive.surgery import write

PACKAGES = ("outlive", "ai-edge-litert", "flatbuffers", "numpy")
OURS = Contestant(
    name="outlive.read",
    program="""
import outlive
outlive.read(arguments[0])  # what is loaded on first use is not the file's cost
time_it(lambda: outlive.read(arguments[0]))
""",
)
THEIRS = Contestant(
    name="flatbuffer_utils.read_model",
    program="""
from ai_edge_litert.tools import flatbuffer_utils
flatbuffer_utils.read_model(arguments[0])
time_it(lambda: flatbuffer_utils.read_model(arguments[0]))
""",
)
# ResNet50 has about fifty convolutions and 25.6 million weights: 102 MB in float32.
WEIGHT_SERIES_OPS = 50
MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One model, and how long each contestant took, as medians."""

    series: str
    ops: int
    file_mb: float
    ours_ms: float
    theirs_ms: float

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.theirs_ms / self.ours_ms


def build_model(ops: int, weight_bytes: int) -> bytes:
    """A chain of convolutions, each with its filter and bias, that share `weight_bytes` among them."""
    each = max(weight_bytes // ops // 4, 1)
    filters = np.random.default_rng(0).standard_normal(each, np.float32)
    tensors: list[dict[str, object]] = [{"name": "input", "shape": [1, 8, 8, 1], "type": "FLOAT32"}]
    operators: list[dict[str, object]] = []
    buffers: list[dict[str, object]] = [{}]
    for index in range(ops):
        first = len(tensors)
        buffers += [{"data": filters + np.float32(index)}, {"data": np.full(1, index, np.float32)}]
        tensors += [
            {"name": f"block{index}/conv/kernel", "shape": [1, 1, 1, each], "buffer": len(buffers) - 2},
            {"name": f"block{index}/conv/bias", "shape": [1], "buffer": len(buffers) - 1},
            {"name": f"block{index}/conv/Relu;block{index}/conv/BiasAdd", "shape": [1, 8, 8, 1]},
        ]
        operators.append(
            {
                "inputs": [first - 1, first, first + 1],
                "outputs": [first + 2],
                "builtin_options_type": "Conv2DOptions",
                "builtin_options": {"stride_w": 1, "stride_h": 1, "fused_activation_function": "RELU"},
            }
        )
    graph = {"tensors": tensors, "inputs": [0], "outputs": [len(tensors) - 1], "operators": operators}
    codes = [{"deprecated_builtin_code": 3, "builtin_code": "CONV_2D", "version": 1}]
    return write({"version": 3, "operator_codes": codes, "subgraphs": [graph], "buffers": buffers})


def measure(series: str, ops: int, weight_bytes: int, folder: Path, quick: bool) -> Row:
    """Time both contestants on one model."""
    path = folder / f"{series}_{ops}_{weight_bytes}.tflite"
    path.write_bytes(build_model(ops, weight_bytes))
    rounds, repetitions = (1, 1) if quick else (5, 5 if ops < 5000 else 2)
    seconds = time_in_turns([OURS, THEIRS], [str(path)], rounds=rounds, repetitions=repetitions)
    file_mb = path.stat().st_size / MB
    path.unlink()
    return Row(
        series=series,
        ops=ops,
        file_mb=round(file_mb, 2),
        ours_ms=seconds[OURS.name] * 1000,
        theirs_ms=seconds[THEIRS.name] * 1000,
    )


def claims(by_weight: list[Row], by_ops: list[Row]) -> list[Claim]:
    """What we promise: cost follows operators, not weights, and big files are read much faster."""
    small, large = by_weight[0], by_weight[-1]
    few, many = by_ops[-2], by_ops[-1]
    growth = f"our time at {large.file_mb:.0f} MB over that at {small.file_mb:.0f} MB, same operators"
    linear = f"our time for {many.ops:,} operators over that for {few.ops:,}"
    faster = f"times faster than read_model on the file of {large.file_mb:.0f} MB"
    return [
        Claim(text=growth, ratio=large.ours_ms / small.ours_ms, bound=3),
        Claim(text=linear, ratio=many.ours_ms / few.ours_ms, bound=2 * many.ops / few.ops),
        Claim(text=faster, ratio=large.ratio, bound=5, at_least=True),
    ]


def print_table(rows: list[Row]) -> None:
    """One line per model."""
    print(f"{'series':8} {'operators':>10} {'file':>10} {'outlive.read':>14} {'read_model':>12} {'ratio':>7}")
    for row in rows:
        print(
            f"{row.series:8} {row.ops:10,} {row.file_mb:7.2f} MB {row.ours_ms:11.2f} ms "
            f"{row.theirs_ms:9.2f} ms {row.ratio:6.1f}x"
        )


def main() -> int:
    """Measure, print, write the results; 1 if a claim falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small models, one round, no results written")
    quick = parser.parse_args().quick
    weights = (1 * MB, 2 * MB) if quick else (1 * MB, 10 * MB, 100 * MB)
    ops = (10, 100) if quick else (100, 1_000, 10_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        by_weight = [measure("weights", WEIGHT_SERIES_OPS, size, folder, quick) for size in weights]
        by_ops = [measure("ops", count, 4 * count, folder, quick) for count in ops]
    print_table(by_weight + by_ops)
    checked = claims(by_weight, by_ops)
    print(*checked, sep="\n")
    if quick:
        return 0
    body = {"rows": [{**asdict(row), "ratio": round(row.ratio, 2)} for row in by_weight + by_ops]}
    print(f"written to {write_results('reader_speed', PACKAGES, checked, body)}")
    return 0 if all(claim.holds for claim in checked) else 1


if __name__ == "__main__":
    sys.exit(main())
