"""Struct sizes under each ABI, as sizeof gave them: arm-none-eabi gcc 12.2 (short and int enums), g++ 12."""

from __future__ import annotations

import pytest

from outlive.kernels.tables import read_table
from outlive.kernels.tflm.abi import ABIS, Abi, align_up, layout, size_of
from outlive.kernels.tflm.registry import find_kernel
from outlive.model import Operator

# struct: Cortex-M, int enums, 64 bits
SIZES = {
    "SingleArenaBufferAllocator": (36, 36, 72),
    "GreedyMemoryPlanner": (44, 44, 72),
    "MicroAllocator": (36, 36, 72),
    "RecordingMicroAllocator": (124, 124, 248),
    "TfLiteTensor": (32, 40, 64),
    "TfLiteEvalTensor": (12, 12, 24),
    "NodeAndRegistration": (32, 32, 64),
    "AllocationInfo": (24, 24, 32),
    "TfLiteFullyConnectedParams": (5, 16, 16),
    "TfLiteAddParams": (2, 8, 8),
    "TfLiteConvParams": (28, 28, 28),
    "TfLiteTransposeConvParams": (16, 20, 20),
    "TfLiteSVDFParams": (8, 12, 12),
    "TfLiteVarHandleParams": (8, 8, 16),
    "OpDataAbsRsqrt": (28, 28, 28),
    "OpDataConv": (56, 56, 72),
    "OpDataFullyConnected": (48, 48, 64),
    "SoftmaxParams": (56, 56, 80),
    "DequantizeOpData": (32, 32, 32),
    "OpDataLSTM": (688, 688, 688),
    "OpDataSquaredDifference": (112, 112, 112),
    "OpDataBatchMatmul": (16, 16, 32),
    "DecodeStateLut": (36, 36, 72),
    "TFLMSignalStackerParams": (36, 36, 56),
}
COLUMNS = ("cortex-m", "int-enum", "host64")


@pytest.mark.parametrize("struct", sorted(SIZES))
def test_sizes_are_those_of_the_compiler(struct: str) -> None:
    assert tuple(size_of(struct, ABIS[name]) for name in COLUMNS) == SIZES[struct]


def test_an_array_of_structs_keeps_each_aligned() -> None:
    for name in kernel_structs():
        for abi in ABIS.values():
            found = layout(name, abi)
            assert found.size_bytes == align_up(found.size_bytes, found.align_bytes) > 0


def kernel_structs() -> set[str]:
    """Every struct an operator keeps."""
    rows = [row for section in ("builtin", "custom") for row in read_table("tflm")[section].values()]
    return {struct for row in rows for key, struct in row.items() if key != "add"}


def test_every_operator_of_the_table_has_its_kernel() -> None:
    for section in ("builtin", "custom"):
        for name in read_table("tflm")[section]:
            for kernels in ("reference", "cmsis-nn"):
                assert find_kernel(operator(section, name), kernels) is not None
    assert find_kernel(operator("builtin", "POW"), "reference") is None


def operator(section: str, name: str) -> Operator:
    """An operator of this name and nothing else."""
    custom = section == "custom"
    return Operator(
        index=0,
        type="CUSTOM" if custom else name,
        custom_name=name if custom else "",
        version=1,
        inputs=(),
        outputs=(),
        intermediates=(),
        options=None,
        custom_options=None,
        mutating_inputs=(),
    )


def test_the_tables_name_the_commit_they_describe() -> None:
    table = read_table("tflm")
    assert len(table["tflm_commit"]) == len(table["cmsis_nn_commit"]) == 40


def test_doubles_align_to_eight_everywhere() -> None:
    for abi in ABIS.values():
        assert isinstance(abi, Abi)
        assert layout("QuantizationParams", abi).align_bytes == 8
