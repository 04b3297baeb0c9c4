"""The words of the GPU accelerator, as ai-edge-litert 2.3.0 printed them, taken apart."""

from __future__ import annotations

import outlive
from outlive.accelerators.gpu_coverage import offer_all, read_words, report_for, settle
from tests.accelerators.small_models import five_axes, line

WORDS = """\
INFO: [delegate_webgpu.cc:342] Create WebGPU environment (use_low_power=0, enable_host_mapped_pointer=1)
I0000 00:00:1794799210.1  9286 environment.cc:532] Selected adapter: SwiftShader Device (Subzero), \
arch=swiftshader, vendor=google, backend=Vulkan, adapterType=CPU / Software
ERROR: Following operations are not supported by GPU delegate:
GATHER: Only support 1D indices
RESHAPE: Tensor type(COMPLEX64) is not supported. stft/rfft4
RFFT2D: Operation is not supported.
37 operations will run on the GPU, and the remaining 10 operations will run on the CPU.
I0000 00:00:1794799210.2  9286 delegate_kernel.cc:984] Initializing WebGPU-based API from graph.
ERROR: Following operations are not supported by GPU delegate:
VAR_HANDLE: Operation is not supported.
No operations will run on the GPU, and all 36 operations will run on the CPU.
F0000 00:00:1794799210.3  9286 object_reader.cc:373] Check failed: CanReadValue(node_input_index)
"""


def test_reports_adapter_and_last_words() -> None:
    words = read_words(WORDS)
    assert (words.adapter, words.is_software, words.no_adapter) == (
        "SwiftShader Device (Subzero)",
        True,
        False,
    )
    assert [(report.taken, report.left) for report in words.reports] == [(37, 10), (0, 36)]
    assert words.reports[0].refused[1] == (
        "RESHAPE",
        "Tensor type(COMPLEX64) is not supported. stft/rfft4",
    )
    assert words.complaints[0] == "Check failed: CanReadValue(node_input_index)"


def test_the_report_of_a_subgraph_is_known_by_its_size() -> None:
    words = read_words(WORDS)
    assert report_for(words, 47) is words.reports[0]
    assert report_for(words, 36) is words.reports[1]
    assert report_for(words, 5) is None


def test_no_adapter() -> None:
    words = read_words("ERROR: [delegate_webgpu.cc:359] Failed to initialize: INTERNAL: No adapters found\n")
    assert words.no_adapter
    assert not words.is_software


def test_a_real_gpu_is_no_software() -> None:
    said = "Selected adapter: Radeon RX, arch=rdna-3, vendor=amd, backend=Vulkan, adapterType=Discrete GPU\n"
    words = read_words(said)
    assert (words.adapter, words.is_software) == ("Radeon RX", False)


def test_a_dynamic_graph() -> None:
    said = (
        "WARNING: Attempting to use a delegate that only supports static-sized tensors with a graph that has "
        "dynamic-sized tensors (tensor#13 is a dynamic-sized tensor).\n"
    )
    assert read_words(said).dynamic_tensor == 13
    assert read_words(WORDS).dynamic_tensor is None


def test_words_that_are_not_understood_are_left_out() -> None:
    words = read_words("Following operations are not supported by GPU delegate:\nsomething new\n")
    assert (words.reports, words.adapter, words.complaints) == ((), "", ())


def report(text: str) -> str:
    head = "Following operations are not supported by GPU delegate:\n"
    end = "2 operations will run on the GPU, and the remaining 2 operations will run on the CPU."
    return f"{head}{text}\n{end}\n"


def test_a_reason_that_names_a_tensor_means_the_operators_that_touch_it() -> None:
    model = outlive.read(five_axes())
    found = report_for(read_words(report("RESHAPE: Tensor dimensions must be less than 5. five")), 4)
    assert found is not None
    settled = settle(model, found, _never)
    assert sorted(settled.refused) == [1, 2]


def test_a_reason_for_the_whole_type_means_all_of_the_type() -> None:
    model = outlive.read(line("ADD", "MUL", "ADD", "MUL"))
    found = report_for(read_words(report("MUL: Operation is not supported.")), 4)
    assert found is not None
    assert sorted(settle(model, found, _never).refused) == [1, 3]


def test_other_reasons_are_settled_by_offering_each_form_once() -> None:
    model = outlive.read(line("ADD", "MUL", "ADD", "MUL"))
    found = report_for(read_words(report("MUL: Only sometimes")), 4)
    assert found is not None
    offered = []

    def offer(part: bytes) -> str:
        offered.append([operator.type for operator in outlive.read(part).subgraphs[0].operators])
        return "no"

    settled = settle(model, found, offer)
    assert offered == [["MUL"]]
    assert settled.refused == {
        1: ("Only sometimes", "the operator alone, offered to it"),
        3: ("Only sometimes", "the operator alone, offered to it"),
    }


def test_what_cannot_be_told_stays_open() -> None:
    model = outlive.read(line("ADD", "MUL", "ADD", "MUL"))
    found = report_for(read_words(report("MUL: Only sometimes")), 4)
    assert found is not None
    settled = settle(model, found, lambda _: None)
    assert (settled.refused, settled.open) == ({}, [("MUL", "Only sometimes")])


def test_without_a_report_every_operator_is_offered() -> None:
    model = outlive.read(line("ADD", "ABS"))

    def offer(part: bytes) -> str:
        kinds = [operator.type for operator in outlive.read(part).subgraphs[0].operators]
        return "it dies" if kinds == ["ABS"] else ""

    assert offer_all(model, offer).refused == {1: ("it dies", "the operator alone, offered to it")}


def test_a_reason_that_is_told_of_many_names_the_tensor_of_none() -> None:
    model = outlive.read(line("ABS", "ABS"))
    refused = offer_all(model, lambda _: "Tensor type(INT64) is not supported. t0").refused
    assert {reason for reason, _ in refused.values()} == {"Tensor type(INT64) is not supported."}


def _never(_: bytes) -> str | None:
    raise AssertionError("nothing need be offered")
