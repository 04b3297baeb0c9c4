"""Names for native code: libraries read right, broken ones survived, functions tied to the right ops."""

from __future__ import annotations

import ast
import ctypes
import importlib.util
import json
import os
import struct
import sys
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.platforms.posix.child.tracing import demangle, elf, symbols, tracee, unwind_table
from outlive.process.child import kernel_names

PACKAGE = Path(__file__).parent.parent.parent / "src" / "outlive"
KERNEL_FUNCTION = ("Eval", "Prepare")
linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, which Linux has")


def litert_library() -> Path:
    """The library that holds LiteRT's kernels; found without loading it."""
    spec = importlib.util.find_spec("ai_edge_litert")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "libpywrap_litert_common.so"
        if path.exists():
            return path
    pytest.skip("needs LiteRT's library: pip install ai-edge-litert")


@pytest.mark.parametrize(
    ("mangled", "readable"),
    [
        (
            "_ZN6tflite3ops7builtin7reverse4EvalEP13TfLiteContextP10TfLiteNode",
            "tflite::ops::builtin::reverse::Eval",
        ),
        (
            "_ZN6tflite3ops7builtin7reverse12_GLOBAL__N_14EvalEP13TfLiteContextP10TfLiteNode",
            "tflite::ops::builtin::reverse::Eval",
        ),
        (
            "_ZN6tflite3ops7builtin15maximum_minimum4EvalILNS2_10KernelTypeE1ENS2_9MaximumOpEEE12TfLiteStatus"
            "P13TfLiteContextP10TfLiteNode",
            "tflite::ops::builtin::maximum_minimum::Eval",
        ),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"),
        ("_ZN6tflite8SubgraphD2Ev", "tflite::Subgraph::~Subgraph"),
        ("_ZN6tflite8SubgraphC1EPNS_13ErrorReporterE", "tflite::Subgraph::Subgraph"),
        ("_ZThn16_N6tflite8Subgraph6InvokeEv", "tflite::Subgraph::Invoke"),
        ("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c", "std::operator<<"),
        ("_ZZN3foo3barEvENKUlvE_clEv", "foo::bar::{lambda}::operator()"),
        ("_ZL11static_namei", "static_name"),
        ("_ZTV3Foo", "_ZTV3Foo"),
        ("_Z", "_Z"),
        ("_ZN999x", "_ZN999x"),
        ("_ZN" + "N" * 500, "_ZN" + "N" * 500),
        ("xnn_create_runtime_v4", "xnn_create_runtime_v4"),
        ("", ""),
    ],
)
def test_demangled_names(mangled: str, readable: str) -> None:
    assert demangle.demangle(mangled) == readable


@given(st.text(alphabet="_ZNSIEKLRPDTUtvijc0123456789abXxF", max_size=60))
def test_no_name_is_too_odd(tail: str) -> None:
    assert demangle.demangle("_Z" + tail)


@linux_only
def test_a_function_of_libc_is_found_by_its_address() -> None:
    address = ctypes.cast(ctypes.CDLL(None).qsort, ctypes.c_void_p).value or 0
    here = next(m for m in tracee.read_mappings(os.getpid()) if m.start <= address < m.end)
    vaddr = symbols.library(here.path).file.vaddr_of(address - here.start + here.offset)
    assert vaddr is not None
    found = symbols.lookup(here.path, vaddr + 1)
    assert found is not None
    assert "qsort" in found.raw
    assert found.offset == 1
    assert symbols.lookup(here.path, vaddr + 1, found.start) == found


@linux_only
def test_only_so_many_libraries_are_kept_open(tmp_path: Path) -> None:
    paths = [tmp_path / f"lib{number}.so" for number in range(60)]
    for path in paths:
        path.write_bytes(b"\x7fELF")
        assert symbols.lookup(str(path), 0) is None
    assert len(symbols._libraries) <= symbols._MAX_LIBRARIES


@linux_only
def test_a_replaced_library_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(b"nothing")
    before = symbols.library(str(path))
    assert symbols.library(str(path)) is before
    path.write_bytes(b"something else")
    assert symbols.library(str(path)) is not before


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 58, b"\x00" * 64])
def test_what_is_no_library_has_no_symbols(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(content)
    assert symbols.lookup(str(path), 4096) is None
    assert symbols.library(str(path)).frames.row(4096) is None
    assert symbols.lookup(str(tmp_path / "missing.so"), 4096) is None
    assert symbols.lookup(str(tmp_path), 4096) is None


def small_library() -> bytes:
    """A library of one function at 0x1000, by hand: one segment, a symbol table and its names."""
    header = struct.Struct("<16sHHIQQQIHHHHHH")
    names = b"\0_ZN1a1bEv\0lib.cc\0"
    entries = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    entries += struct.pack("<IBBHQQ", 11, 4, 0, 0xFFF1, 0, 0)  # STT_FILE
    entries += struct.pack("<IBBHQQ", 1, 2, 0, 1, 0x1000, 16)  # STT_FUNC
    segment_at = header.size
    sections_at = segment_at + 56
    table_at = sections_at + 3 * 64
    names_at = table_at + len(entries)
    segment = struct.pack("<IIQQQQQQ", elf.PT_LOAD, 5, 0, 0x1000, 0, names_at, names_at, 4096)
    sections = struct.pack("<IIQQQQIIQQ", *[0] * 10)
    sections += struct.pack("<IIQQQQIIQQ", 0, elf.SHT_SYMTAB, 0, 0, table_at, len(entries), 2, 3, 8, 24)
    sections += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    ident = b"\x7fELF\x02\x01\x01" + b"\0" * 9
    head = header.pack(ident, 3, 62, 1, 0, segment_at, sections_at, 0, header.size, 56, 1, 64, 3, 2)
    return head + segment + sections + entries + names


@pytest.mark.parametrize(
    ("vaddr", "found"),
    [(0x0FFF, None), (0x1000, ("a::b", 0, "lib.cc")), (0x100F, ("a::b", 15, "lib.cc")), (0x1010, None)],
)
def test_a_function_ends_where_it_says(
    vaddr: int, found: tuple[str, int, str] | None, tmp_path: Path
) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(small_library())
    symbol = symbols.lookup(str(path), vaddr)
    assert (symbol and (symbol.name, symbol.offset, symbol.source)) == found


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_garbled_library_is_survived(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(small_library())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("garbled") / "lib.so"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    file = elf.ElfFile(str(path))
    for vaddr in (0, 0x1000, 0x100F, 1 << 40, (1 << 64) - 1):
        symbols.SymbolTable(file).find(vaddr)
        unwind_table.UnwindTable(file).row(vaddr)
    file.close()


def test_the_list_of_operators_is_the_schema_s() -> None:
    schema = json.loads((PACKAGE / "model" / "schema.json").read_text())
    assert {name: code for code, name in enumerate(kernel_names.OPERATORS)} == schema["enums"][
        "BuiltinOperator"
    ]["values"]


def test_every_op_in_the_tables_exists() -> None:
    tables = [*kernel_names._VISITS.values(), *kernel_names._XNN_OPERATORS.values()]
    tables += kernel_names._RENAMED.values()
    tables += [ops for functions in kernel_names._SHARED.values() for ops in functions.values()]
    named = {op for ops in tables for op in ops}
    named |= {name.upper() for name in kernel_names._PLAIN}
    assert named <= set(kernel_names.OPERATORS)


@pytest.mark.parametrize(
    ("name", "raw", "source", "ops", "phase"),
    [
        ("tflite::ops::builtin::reverse::Eval", "", "", ("REVERSE_V2",), "Eval"),
        ("tflite::ops::builtin::conv::Prepare", "", "", ("CONV_2D",), "Prepare"),
        ("tflite::ops::builtin::activations::SoftmaxEval", "", "", ("SOFTMAX",), "Eval"),
        ("tflite::ops::builtin::pad::Eval", "", "", ("PAD", "PADV2"), "Eval"),
        ("tflite::ops::builtin::Eval", "", "skip_gram.cc", ("SKIP_GRAM",), "Eval"),
        ("tflite::ops::builtin::Eval", "", "", ("EMBEDDING_LOOKUP_SPARSE", "SKIP_GRAM"), "Eval"),
        ("tflite::ops::builtin::maximum_minimum::Eval", "…9MinimumOp…", "", ("MINIMUM",), "Eval"),
        ("tflite::ops::builtin::conv::Init", "", "", ("CONV_2D",), "Init"),
        ("tflite::ops::builtin::of_the_future::Eval", "", "", (), "Eval"),
        ("tflite::xnnpack::Subgraph::VisitConv2DNode", "", "", ("CONV_2D",), "Prepare"),
    ],
)
def test_kernels_are_tied_to_ops(name: str, raw: str, source: str, ops: tuple[str, ...], phase: str) -> None:
    kernel = kernel_names.candidates(name, (raw,), source)
    assert kernel is not None
    assert (kernel.ops, kernel.phase) == (ops, phase)


def test_folded_functions_name_no_op() -> None:
    kernel = kernel_names.candidates("tflite::ops::builtin::ceil::Prepare", ("_ZN…ceil…", "_ZN…floor…"), "")
    assert kernel == kernel_names.KernelName((), "Prepare")


@pytest.mark.parametrize("name", ["", "main", "tflite::Subgraph::Invoke", "tflite::reference_ops::Conv"])
def test_other_functions_are_no_kernels(name: str) -> None:
    assert kernel_names.candidates(name, (name,), "") is None


def test_every_kernel_of_the_runtime_is_known() -> None:
    unknown = set()
    for name, raw in kernel_functions(litert_library()):
        kernel = kernel_names.candidates(name, (raw,), "")
        if kernel is None or not kernel.ops:
            unknown.add(name)
    # Functions that kernels share, and that are registered for no op.
    helpers = {
        "tflite::ops::builtin::activations::GenericPrepare",
        "tflite::ops::builtin::arg_min_max::Eval",
        "tflite::ops::builtin::elementwise::GenericPrepare",
        "tflite::ops::builtin::elementwise::LogLUTPrepare",
        "tflite::ops::builtin::lstm_eval::Eval",
        "tflite::ops::builtin::unsorted_segment::EvalGeneric",
        "tflite::ops::builtin::unsorted_segment::ValidateUnsortedSegmentEval",
    }
    assert {name for name in unknown if name.endswith(KERNEL_FUNCTION)} <= helpers


def kernel_functions(path: Path) -> list[tuple[str, str]]:
    """Readable and raw names of all functions of a library that look like kernels."""
    file = elf.ElfFile(str(path))
    sections = file.sections()
    table = next(section for section in sections if section.kind == elf.SHT_SYMTAB)
    strings = sections[table.link]
    words = array("Q")
    words.frombytes(file.read(table.offset, table.size))
    names = file.read(strings.offset, strings.size)
    file.close()
    found = []
    for head in words[0::3]:
        start = head & 0xFFFFFFFF
        raw = names[start : names.index(b"\0", start)].decode()
        if head >> 32 & 15 == symbols._STT_FUNC and "3ops7builtin" in raw:
            found.append((demangle.demangle(raw), raw))
    return found


@pytest.mark.parametrize(
    "path",
    sorted(
        [*(PACKAGE / "process" / "child").rglob("*.py"), *(PACKAGE / "platforms").glob("*/child/**/*.py")]
    ),
    ids=lambda path: path.name,
)
def test_the_child_can_be_read_by_python_3_8(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    assert ast.get_docstring(tree)
