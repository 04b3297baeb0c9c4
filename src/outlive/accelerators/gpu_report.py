"""What LiteRT's GPU accelerator says of itself on stderr: the one place that knows its words.

The patterns are those of ai-edge-litert 2.3.0, which reports on each subgraph that it does not take whole:

    ERROR: Following operations are not supported by GPU delegate:
    RESHAPE: Tensor dimensions must be less than 5. some/name
    67 operations will run on the GPU, and the remaining 140 operations will run on the CPU.

A line names a type and a reason, not an operator. A graph that is taken whole has no report. The text before
the reason's tensor name, and the sentence that counts, come from tflite/delegates/gpu/common/model_builder.cc
and the delegate that calls it; the accelerator itself is closed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PATTERNS_VERSION = "ai-edge-litert 2.3.0"

_REPORT = re.compile(
    r"Following operations are not supported by GPU delegate:\n(?P<rows>.*?)\n"
    r"(?P<taken>\d+|No) operations will run on the GPU, and (?:the remaining (?P<left>\d+)|all (?P<all>\d+))"
    r" operations will run on the CPU\.",
    re.DOTALL,
)
_ROW = re.compile(r"^(?P<type>[A-Za-z0-9_]+): (?P<reason>.*)$")
_ADAPTER = re.compile(r"Selected adapter: (?P<name>.*?), arch=.*?adapterType=(?P<kind>[^\n]*)")
_NO_ADAPTER = re.compile(r"No adapters found|Failed to initialize WebGPU environment|Found no drivers")
_FATAL = re.compile(r"^F\d{4} [^\]]*\] (?P<words>.*)$", re.MULTILINE)
# Complaints of the runtime beside the accelerator that say why a model was not loaded or compiled.
_COMPLAINT = re.compile(r"^(?:ERROR|E\d{4}[^\]]*\]):? *(?:\[[^\]]*\] *)?(?P<words>\S.*)$", re.MULTILINE)
_NOISE = ("Following operations", "libopenvino", "compiler_plugin", "litert/")
# tflite/core/subgraph.cc: said before a delegate that wants static shapes is refused; -1 is no tensor.
_DYNAMIC = re.compile(r"graph that has dynamic-sized tensors \(tensor#(?P<tensor>-?\d+)")
_INITIALISED = "Initializing WebGPU-based API from graph."


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReport:
    """One subgraph's report: what was refused by type and reason, and how many operators run where."""

    refused: tuple[tuple[str, str], ...]
    taken: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuWords:
    """All that could be read from what the accelerator printed."""

    reports: tuple[GpuReport, ...] = ()
    adapter: str = ""
    is_software: bool = False
    no_adapter: bool = False
    initialised: int = 0
    complaints: tuple[str, ...] = ()
    dynamic_tensor: int | None = None


def read_words(text: str) -> GpuWords:
    """The accelerator's own words, taken apart; what is not understood is left out."""
    adapter = _ADAPTER.search(text)
    kind = adapter["kind"].strip() if adapter else ""
    dynamic = _DYNAMIC.search(text)
    fatal = [match["words"].strip() for match in _FATAL.finditer(text)]
    said = [match["words"].strip() for match in _COMPLAINT.finditer(text)]
    return GpuWords(
        reports=tuple(_report(match) for match in _REPORT.finditer(text)),
        adapter=adapter["name"].strip() if adapter else "",
        is_software="CPU" in kind or "Software" in kind,
        no_adapter=adapter is None and _NO_ADAPTER.search(text) is not None,
        initialised=text.count(_INITIALISED),
        dynamic_tensor=int(dynamic["tensor"]) if dynamic else None,
        complaints=tuple(dict.fromkeys([*fatal, *(words for words in said if not _is_noise(words))])),
    )


def report_for(words: GpuWords, ops_total: int) -> GpuReport | None:
    """The report of the main subgraph, which has this many operators; None if it has none.

    Subgraphs are looked at in their order, so that the first that fits is meant.
    """
    return next((report for report in words.reports if report.taken + report.left == ops_total), None)


def _report(match: re.Match[str]) -> GpuReport:
    rows = [_ROW.match(line) for line in match["rows"].splitlines()]
    refused = tuple((row["type"], row["reason"].strip()) for row in rows if row is not None)
    taken = 0 if match["taken"] == "No" else int(match["taken"])
    return GpuReport(refused=refused, taken=taken, left=int(match["left"] or match["all"]))


def _is_noise(words: str) -> bool:
    return any(noise in words for noise in _NOISE)
