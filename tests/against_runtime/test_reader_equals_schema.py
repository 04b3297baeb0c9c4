"""Our reader and LiteRT's own schema module agree on all that a model says.

Independent of the interpreter, which shows neither options nor versions nor metadata, and forgets much else.
"""

from __future__ import annotations

import copy
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from outlive.model import read_source
from outlive.model.schema import Field, load_schema
from tests.against_runtime.agreement import unequal
from tests.against_runtime.conftest import Answers, ask
from tests.against_runtime.schema_agreement import Json, SchemaView, our_view
from tests.model.small import Tree, build, tensor

SCHEMA = load_schema()
OPTIONS = {union: SCHEMA.unions[union][1:] for union in ("BuiltinOptions", "BuiltinOptions2")}
UNION_FIELDS = {"BuiltinOptions": "builtin_options", "BuiltinOptions2": "builtin_options_2"}


def differences(path: Path, view: Json | None) -> list[str]:
    model = read_source(path).model
    assert model is not None
    assert view is not None
    return unequal(our_view(model), SchemaView(view).model(), "")


def test_reader_agrees_on_every_corpus_model(corpus_model: Path, answers: dict[str, Answers]) -> None:
    view = answers[corpus_model.name].schema
    if view and "refused" in view:
        assert read_source(corpus_model).model is None
    else:
        assert differences(corpus_model, view) == []


def test_the_corpus_has_what_is_compared(answers: dict[str, Answers]) -> None:
    views = [
        answer.schema["model"] for answer in answers.values() if answer.schema and "model" in answer.schema
    ]
    graphs = [graph for view in views for graph in view["subgraphs"]]
    operators = [operator for graph in graphs for operator in graph["operators"] or []]
    tensors = [tensor for graph in graphs for tensor in graph["tensors"]]
    seen = Counter(name for row in [*operators, *tensors] for name, value in row.items() if value)
    assert (len(views), len(graphs), len(operators), len(tensors)) == (98, 112, 7505, 12416)
    for name in (
        "builtinOptions", "builtinOptions2", "customOptions", "intermediates",
        "isVariable", "quantization", "shapeSignature", "sparsity",
    ):  # fmt: skip
        assert seen[name], name
    assert sum(buffer["offset"] > 1 for view in views for buffer in view["buffers"]) == 6
    assert sum(len(view["signatureDefs"] or []) for view in views) == 36


class Samples:
    """Values for the fields of a table, no two alike and none a default."""

    def __init__(self) -> None:
        self._count: Iterator[int] = itertools.count(2)

    def table(self, name: str) -> Tree:
        return {field.name: self.value(field) for field in SCHEMA.tables[name]}

    def value(self, field: Field) -> Any:
        kind = field.type.strip("[]")
        if kind != field.type:
            return [self.one(kind, 0) for _ in range(3)]
        return self.one(kind, field.default)

    def one(self, kind: str, default: float) -> Any:
        number = next(self._count)
        if kind in SCHEMA.enums:
            return max(SCHEMA.enums[kind].names)
        if kind == "bool":
            return not default
        if kind == "string":
            return f"text {number}"
        return number / 8 if kind.startswith("float") else number % 100


def with_every_option(make: Callable[[str], Tree]) -> bytes:
    operators = [
        {
            "inputs": [0],
            "outputs": [0],
            f"{UNION_FIELDS[union]}_type": table,
            UNION_FIELDS[union]: make(table),
        }
        for union, tables in OPTIONS.items()
        for table in tables
    ]
    return build(operators=operators)


@pytest.mark.parametrize("make", [Samples().table, lambda _: {}], ids=["filled", "defaults"])
def test_reader_agrees_on_every_option_table(make: Callable[[str], Tree], tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(with_every_option(make))
    view = ask(path).schema
    assert differences(path, view) == []
    assert view is not None
    operators = view["model"]["subgraphs"][0]["operators"]
    tables = [(row["builtinOptions"] or row["builtinOptions2"])["table"] for row in operators]
    assert tables == [table for tables in OPTIONS.values() for table in tables]


def test_reader_agrees_on_what_no_corpus_model_has(tmp_path: Path) -> None:
    sub_types = [{"type": "INT4", "shape": [2, 3], "has_rank": True}, {"type": "STRING"}]
    blocks = {"scales": 0, "zero_points": 1, "block_size": 2, "quantized_dimensions": [0, 1]}
    operator = {
        "inputs": [0, 1],
        "outputs": [2],
        "mutating_variable_inputs": [True, False],
        "intermediates": [1],
    }
    tensors = [
        tensor("scales"),
        tensor("zero points", "INT32", has_rank=True),
        tensor("list", "VARIANT", variant_tensors=sub_types),
        tensor("axes", quantization={"details_type": "MultiAxisQuantization", "details": blocks}),
        tensor("custom", quantization={"details_type": "CustomQuantization", "details": {"custom": b"abc"}}),
    ]
    path = tmp_path / "model.tflite"
    code = {"deprecated_builtin_code": 127, "builtin_code": "GELU", "version": 7}
    path.write_bytes(build(tensors, operators=[operator], codes=[code], description="a test"))
    assert differences(path, ask(path).schema) == []


def _tensor(view: Json) -> Json:
    found: Json = next(
        t for t in view["model"]["subgraphs"][0]["tensors"] if (t["quantization"] or {}).get("scale")
    )
    return found


def _options(view: Json) -> Json:
    rows = (row["builtinOptions"] for row in view["model"]["subgraphs"][0]["operators"])
    found: Json = next(options for options in rows if options and options["table"] == "Conv2DOptions")
    return found


@pytest.mark.parametrize(
    ("where", "change"),
    [
        (".version", lambda v: v["model"].update(version=4)),
        (".description", lambda v: v["model"].update(description="other")),
        (".codes[0][2]", lambda v: v["model"]["operatorCodes"][0].update(version=99)),
        (".buffers[2].crc", lambda v: v["model"]["buffers"][2]["data"].update(crc=1)),
        (".metadata[0][1]", lambda v: v["model"]["metadata"][0].update(buffer=1)),
        (".variable", lambda v: _tensor(v).update(isVariable=True)),
        (".buffer", lambda v: _tensor(v).update(buffer=99)),
        (".type", lambda v: _tensor(v).update(type=17)),
        (".rank", lambda v: _tensor(v).update(hasRank="perhaps")),
        (".quantization.min", lambda v: _tensor(v)["quantization"].update(min=[7.0])),
        (".quantization.axis", lambda v: _tensor(v)["quantization"].update(quantizedDimension=3)),
        (".options.stride_w", lambda v: _options(v).update(strideW=9)),
        (".options.padding", lambda v: _options(v).update(padding=1 - _options(v)["padding"])),
        (".options.newField", lambda v: _options(v).update(newField=0)),
        (".options.table", lambda v: _options(v).update(table="DepthwiseConv2DOptions")),
        (".intermediates", lambda v: v["model"]["subgraphs"][0]["operators"][0].update(intermediates=[1])),
        (
            ".mutating",
            lambda v: v["model"]["subgraphs"][0]["operators"][0].update(mutatingVariableInputs=[True]),
        ),
        (".custom", lambda v: v["model"]["subgraphs"][0]["operators"][0].update(customOptions={"size": 1})),
    ],
)
def test_the_comparison_sees_what_is_changed(
    where: str, change: Callable[[Json], None], corpus: Path, answers: dict[str, Answers]
) -> None:
    name = "9d992182_model_int8.tflite"
    view = copy.deepcopy(answers[name].schema)
    assert view is not None
    change(view)
    found = differences(corpus / "models" / name, view)
    assert any(where in difference for difference in found)
