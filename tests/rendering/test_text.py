"""What a person reads: the summary, the lists, the table of files, findings and pages."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import outlive
from outlive import demo_models
from outlive.finding import Evidence, Fault, Finding, Remedy, Severity, Tag
from outlive.meter import Point
from outlive.model import Model, Quantization
from outlive.rendering import page as ui
from outlive.rendering import page_of
from outlive.rendering.finding_text import (
    command_lines,
    count_findings,
    finding_lines,
    plain_finding,
    rich_finding,
)  # fmt: skip
from outlive.rendering.media.text import draw_text
from outlive.rendering.model_lists import graph_list, operator_list, quantization_text, tensor_list
from outlive.rendering.page import Page, PageVerdict, Section
from outlive.rendering.pages.explain import rule_markdown, rule_page
from outlive.rendering.pages.run import timeline_chart
from outlive.rules import Rule
from outlive.rules.catalogue import load_rules
from outlive.surgery import write
from outlive.units import format_bytes, format_shape
from outlive.verbs.read import read_files
from tests.rendering.stage import plain
from tests.rules.small import archive, dense, graph, ones, operator, tensor, tree

DEMOS = pytest.mark.parametrize("name", demo_models.NAMES)


def demo(name: str) -> Model:
    return outlive.read(demo_models.path(name))


def summary(model: Model) -> str:
    return plain(draw_text(page_of(model), 1))


def listed(sections: Iterable[Section]) -> str:
    page = Page(title="x", kind="read", verdict=PageVerdict(tone="plain", word="x"), sections=tuple(sections))
    return plain(draw_text(page)).partition("\n")[2]


def squeezed(text: str) -> list[str]:
    """The lines, with one space where there are more."""
    return [" ".join(line.split()) for line in text.splitlines()]


@DEMOS
def test_the_summary_tells_file_ends_operators_and_bytes(name: str) -> None:
    model = demo(name)
    text = summary(model)
    count = sum(1 for _ in model.operators())
    size = f"{format_bytes(model.file_bytes)}, schema 3, {count} operators in 1 subgraph"
    assert squeezed(text)[0] == f"{model.path} {size}"
    for role, end in (*(("input", one) for one in model.inputs), *(("output", one) for one in model.outputs)):
        assert any(line.startswith(f"{role} {end.name} {format_shape(end.shape)}") for line in squeezed(text))
    for kind in {step.name for step in model.operators()}:
        assert f"  {kind} " in text
    assert "Signatures\n    serving_default(image) -> (probabilities)" in text
    assert "needs runtime 1.5.0 or later" in text


def test_the_summary_of_the_healthy_model() -> None:
    lines = squeezed(summary(demo("healthy")))
    assert '"outlive demo: a healthy float32 image classifier", needs runtime 1.5.0 or later' in lines
    assert "input image 1x64x64x3 (?x64x64x3) float32 48.0 KiB" in lines
    assert "output probabilities 1x10 (?x10) float32 40 B" in lines
    assert "CONV_2D 7" in lines
    assert "6.75 KiB block3/expand/weights 72x1x1x24 float32" in lines
    shares = [float(line.split()[-2].rstrip("%")) for line in lines if line.startswith("float32 constants")]
    assert shares == [pytest.approx(88.5, abs=0.1)]


def test_the_summary_of_the_int8_model_tells_its_scales() -> None:
    model = demo("healthy_int8")
    quantization = model.inputs[0].quantization
    assert quantization is not None
    wanted = f"scale {quantization.scales[0]:.6g}, zero point {quantization.zero_points[0]}"
    assert wanted in summary(model)


def test_a_model_without_anything_has_a_summary() -> None:
    text = summary(outlive.read(write({"version": 3, "buffers": [{}]}), tolerant=True))
    assert text.startswith("model given as bytes")
    assert "0 operators in 0 subgraphs" in text


def test_the_thirteenth_kind_of_operator_is_counted_with_the_others() -> None:
    tensors = [tensor(f"t{index}", [4]) for index in range(16)]
    steps = [operator(f"Custom{index}", [index], [index + 1]) for index in range(15)]
    lines = squeezed(summary(outlive.read(write(tree(graph(tensors, steps, [0], [15]))))))
    assert "Custom0 (custom) 1" in lines
    brief = squeezed(plain(draw_text(page_of(outlive.read(write(tree(graph(tensors, steps, [0], [15]))))))))
    assert "and 3 more: -v shows all" in brief


def test_attached_files_are_listed() -> None:
    text = summary(outlive.read(write(dense()) + archive("labels.txt")))
    assert "attached labels.txt: 7 B" in text


@DEMOS
def test_every_operator_and_tensor_is_listed(name: str) -> None:
    model = demo(name)
    for listing, count in (
        (operator_list, sum(1 for _ in model.operators())),
        (tensor_list, sum(1 for _ in model.tensors())),
    ):
        numbers = re.findall(r"^ *(\d+) ", listed(listing(model)), re.MULTILINE)
        assert numbers == [str(index) for index in range(count)]
    assert len(listed(graph_list(model)).splitlines()) == 2 + sum(1 for _ in model.operators())


def test_operators_are_listed_with_what_is_not_default() -> None:
    lines = squeezed(listed(operator_list(demo("healthy"))))
    assert "op type version inputs outputs options" in lines
    first = next(line for line in lines if line.startswith("0 CONV_2D"))
    assert first.endswith("padding=SAME stride_w=2 stride_h=2 fused_activation_function=RELU6")
    assert "dilation" not in first, "what is at its default is not worth a word"


def test_the_graph_is_one_line_per_operator() -> None:
    made = dense(op={"inputs": [0, 1, -1]})
    assert listed(graph_list(outlive.read(write(made)))).splitlines() == [
        "", "Graph", "  0  FULLY_CONNECTED(x 1x4, weights 2x4, -) -> y 1x2",
    ]  # fmt: skip


def test_calls_and_subgraphs_are_named() -> None:
    call = operator("CALL", [0], [1], "CallOptions", subgraph=1)
    main = graph([tensor("x", [1]), tensor("y", [1])], [call], [0], [1])
    text = listed(graph_list(outlive.read(write(tree(main, main | {"operators": [], "name": "body"})))))
    assert "CALL(x 1) -> y 1 calls subgraph 1" in text
    assert 'Graph of subgraph 1 "body"' in text


def test_tensors_are_listed_with_their_kind() -> None:
    made = dense(x={"shape_signature": [-1, 4]}, y={"is_variable": True})
    lines = squeezed(listed(tensor_list(outlive.read(write(made)))))
    assert lines[3:] == [
        "0 x 1x4 (?x4) float32 16 B input",
        "1 weights 2x4 float32 32 B constant",
        "2 y 1x2 float32 8 B output, variable",
    ]


@pytest.mark.parametrize(
    ("quantization", "text"),
    [
        (None, ""),
        (Quantization(kind="per-tensor", scales=(0.5,), zero_points=(-3,)), "scale 0.5, zero point -3"),
        (Quantization(kind="per-tensor", scales=(0.5,)), "scale 0.5, zero point none"),
        (Quantization(kind="per-tensor", zero_points=(1,)), "per-tensor"),
        (Quantization(kind="per-channel", scales=(0.25, 4.0), axis=3), "2 scales 0.25 to 4 along axis 3"),
        (Quantization(kind="blockwise", block_size=32, axis=1), "blocks of 32 along axis 1"),
        (Quantization(kind="range-only", minimum=(-1.0,), maximum=(6.0,)), "range -1 to 6, not quantized"),
        (Quantization(kind="range-only", minimum=(-1.0,)), "range-only"),
        (
            Quantization(kind="per-tensor", scales=(float("nan"),), zero_points=(0,)),
            "scale nan, zero point 0",
        ),
    ],
)
def test_quantization_in_a_few_words(quantization: Quantization | None, text: str) -> None:
    assert quantization_text(quantization) == text


def test_several_files_make_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.tflite").write_bytes(b"")
    paths = [demo_models.path("healthy_int8"), demo_models.path("wasteful"), "broken.tflite"]
    lines = squeezed(plain(draw_text(page_of(read_files(paths)))))
    assert lines[0] == "✗ 3 models 1 of 3 files with errors"
    assert lines[3] == "file size inputs outputs ops weights findings"
    assert lines[4].endswith("26.7 KiB 1x64x64x3 int8 1x10 int8 16 int8 none")
    assert lines[5].endswith("float32 6 notes")
    assert lines[6] == "broken.tflite 0 B F102 The file is empty: 0 bytes"


def finding(severity: Severity = Severity.ERROR, *remedies: Remedy) -> Finding:
    evidence = (Evidence(fact="short", source="one"), Evidence(fact="somewhat longer", source="two"))
    return Finding(
        code="X901", name="planted", severity=severity, headline="something is wrong", where="m.tflite",
        why="because", evidence=evidence, remedies=remedies, confidence="certain", fault=Fault.FILE,
    )  # fmt: skip


REMEDIES = (
    Remedy(action="do this", tag=Tag.SAME_RESULTS, effect="saves 1 B", command="outlive read x"),
    Remedy(action="do that", tag=Tag.CHANGES_MODEL),
)


def test_a_finding_is_laid_out_as_the_house_asks() -> None:
    text = plain_finding(finding(Severity.ERROR, *REMEDIES))
    assert text.splitlines() == [
        "error[X901]: something is wrong",
        "  m.tflite",
        "  Fix: do this: saves 1 B",
        "       outlive read x",
        "  Short.",
        "  Because.",
        "  Confidence: certain · Details: outlive explain X901",
    ]


def test_detail_adds_evidence_with_its_sources_and_the_other_fixes() -> None:
    text = plain_finding(finding(Severity.ERROR, *REMEDIES), detail=1)
    assert text.splitlines()[2:] == [
        "  Fix: do this: saves 1 B [same-results]",
        "       outlive read x",
        "  Because.",
        "  Evidence:",
        "    - short (one)",
        "    - somewhat longer (two)",
        "  Other fixes:",
        "    - do that [changes-model]",
        "  Confidence: certain · Details: outlive explain X901",
    ]


def test_what_the_headline_names_is_not_said_again() -> None:
    made = replace(finding(), headline="File not found: m.tflite")
    assert plain_finding(made).splitlines() == [
        "error[X901]: File not found: m.tflite",
        "  Because.",
        "  Confidence: certain · Details: outlive explain X901",
    ]


@pytest.mark.parametrize("severity", Severity)
def test_the_coloured_finding_says_the_same(severity: Severity) -> None:
    for detail in (0, 1):
        made = finding(severity, *REMEDIES)
        assert plain([rich_finding(made, detail)]).rstrip("\n") == plain_finding(made, detail)


def test_each_severity_has_a_style_of_its_own() -> None:
    assert len({next(finding_lines(finding(one))).start_style for one in Severity}) == len(Severity)


LONG = "outlive run 'a model with blanks.tflite' --accelerator reference --threads 4 --input image=image.npy"


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_a_finding_fits_the_terminal_and_only_its_headline_begins_at_the_left(width: int) -> None:
    long = replace(finding(), headline="words " * 30, where="folder/" * 30, why="because " * 30)
    made = replace(long, remedies=(Remedy("act " * 30, Tag.SAME_RESULTS, command=LONG), REMEDIES[1]))
    console = Console(width=width, file=io.StringIO(), force_terminal=False, highlight=False)
    for detail in (0, 1):
        with console.capture() as capture:
            console.print(rich_finding(made, detail))
        first, *others = [line.rstrip() for line in capture.get().splitlines()]
        assert first.startswith("error[X901]")
        assert all(line.startswith("  ") for line in others)
        assert max(map(len, others)) <= width
        assert max(map(len, others)) > width - 12, "the width is used"


@pytest.mark.parametrize("width", [36, 45, 60, 200])
def test_a_wrapped_command_is_the_same_command_when_it_is_pasted(width: int) -> None:
    lines = command_lines(LONG, width)
    assert shlex.split("\n".join(lines).replace("\\\n", "")) == shlex.split(LONG)
    assert max(map(len, lines)) <= width
    assert (len(lines) == 1) == (len(LONG) <= width)


def test_findings_are_counted_by_severity() -> None:
    several = [finding(Severity.NOTE), finding(Severity.ERROR), finding(Severity.NOTE)]
    assert count_findings(several) == "1 error, 2 notes"
    assert count_findings([]) == "none"


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.code)
def test_the_page_of_a_rule_is_its_docstring(rule: Rule) -> None:
    page, markdown = rule_page(rule), rule_markdown(rule)
    assert page.startswith(f"{rule.code} {rule.name} ({rule.severity.value}, since {rule.since};")
    assert markdown.startswith(f"# {rule.code} {rule.name}\n")
    for section in ("What it checks", "Why it matters", "What to do", "Limits"):
        assert f"\n{section}\n" in page
        assert f"\n## {section}\n" in markdown
    assert rule.summary in page
    assert rule.summary in markdown


def test_constants_that_share_a_buffer_are_big_once() -> None:
    tensors = [tensor("x", [8]), tensor("a", [8], buffer=1), tensor("b", [8], buffer=1), tensor("y", [8])]
    steps = [operator("ADD", [0, 1], [3]), operator("ADD", [0, 2], [3])]
    made = tree(graph(tensors, steps, [0], [3]), buffers=[np.asarray(ones(8))])
    assert "32 B a 8 float32" in squeezed(summary(outlive.read(write(made))))
    assert "32 B b 8 float32" not in squeezed(summary(outlive.read(write(made))))


def test_memory_over_time_is_a_curve_in_a_line() -> None:
    points = [Point(seconds=n / 10, bytes=n * 1000, rss_bytes=0) for n in range(1, 9)]
    chart = timeline_chart(points)
    (line,) = [
        line for line in listed([Section(id="m", title="m", blocks=(chart,))]).splitlines() if "█" in line
    ]
    steps = line.strip()
    assert len(steps) >= 40
    assert list(steps) == sorted(steps), "it grows, and so do the blocks"


def at_width(columns: int, *rows: tuple[str, ...], spec: str) -> list[str]:
    table = ui.Table("t", "", ui.columns(spec), rows)
    page = ui.Page(title="m", kind="plan", verdict=ui.PageVerdict("good", "ok"), subtitle="m.tflite",
                   sections=(ui.Section("s", "S", (table,)),))  # fmt: skip
    console = Console(file=io.StringIO(), width=columns, markup=False, highlight=False, no_color=True)
    with console.capture() as capture:
        for part in draw_text(page):
            console.print(part)
    return [line.rstrip() for line in capture.get().splitlines()][3:]


ROWS = (
    ("7", "DEPTHWISE_CONV_2D", "int8 weights", ""),
    ("1", "MEAN", "float", "the quantizer has no recipe for this operator"),
)
HEADS = "operators: number | type: mono | result | reason: wide"


def test_a_table_breaks_between_words_and_puts_a_reason_below_its_row() -> None:
    wide = at_width(120, *ROWS, spec=HEADS)
    assert len(wide) == 3
    assert wide[2].endswith("float         the quantizer has no recipe for this operator")
    assert at_width(60, *ROWS, spec=HEADS) == [
        "  operators  type               result",
        "          7  DEPTHWISE_CONV_2D  int8 weights",
        "          1  MEAN               float",
        "               the quantizer has no recipe for this operator",
    ]


def test_a_table_without_room_becomes_paragraphs() -> None:
    found = at_width(36, *ROWS, spec=HEADS)
    assert found[0] == "  operators 7 · type"
    assert all(len(line) <= 36 for line in found)
    assert "DEPTHWISE_CONV_2D" in " ".join(found)
