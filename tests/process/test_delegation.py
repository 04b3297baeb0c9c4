"""What delegates took is counted from the runtime's nodes, and a delegate that fell back is told."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive import demo_models
from outlive.interpreter.interpreter_options import load_delegate
from outlive.process.flight import ask_delegation, see_delegation
from outlive.surgery import write
from tests.rules.small import graph, operator, tensor, tree

# A delegate that loads, is asked, and takes nothing. The fields are those of TfLiteDelegate in LiteRT,
# tflite/core/c/common.h.
IDLE = """
#include <stdint.h>
#include <stddef.h>
static int prepare(void *context, void *delegate) { return 0; }
static struct { void *data; int (*prepare)(void *, void *); void *copies[3]; int64_t flags; void *builder; }
    idle = {NULL, prepare, {NULL, NULL, NULL}, 0, NULL};
void *tflite_plugin_create_delegate(char **keys, char **values, size_t count, void (*report)(const char *))
{ return &idle; }
void tflite_plugin_destroy_delegate(void *delegate) {}
"""
CHAIN = [("RELU", [0], [1]), ("CUMSUM", [1], [2]), ("TANH", [2], [3]), ("RELU", [3], [4])]


def test_what_lies_between_the_ends_of_a_delegates_node_was_taken() -> None:
    seen = see_delegation(["XNNPACK"], [*CHAIN, ("DELEGATE", [0], [1]), ("DELEGATE", [2], [4])])
    assert (seen.operators, seen.taken, seen.parts, seen.left) == (4, 3, 2, ((1, "CUMSUM"),))


def test_no_node_of_a_delegate_means_that_nothing_was_taken() -> None:
    seen = see_delegation(["XNNPACK"], CHAIN)
    assert (seen.taken, seen.parts, len(seen.left)) == (0, 0, 4)


def test_nodes_in_a_ring_come_to_an_end() -> None:
    ring = [("ADD", [2], [1]), ("ADD", [1], [2]), ("DELEGATE", [0], [2])]
    assert see_delegation(["XNNPACK"], ring).taken == 2


@pytest.mark.parametrize(
    "nodes", [[["ADD", [float("inf")], [1]]], [["ADD"]], [7], [["ADD", "ab", [1]]], [["ADD", None, None]]]
)
def test_what_a_worker_says_of_its_nodes_is_not_believed_as_it_is(nodes: Any) -> None:
    assert ask_delegation(lambda: nodes, ["XNNPACK"]) is None


@pytest.mark.parametrize(
    ("name", "accelerator", "taken"), [("healthy", "cpu", 16), ("healthy", "builtin", None)]
)
def test_a_flight_says_what_xnnpack_took(name: str, accelerator: str, taken: int | None) -> None:
    flight = outlive.run(demo_models.path(name), accelerator=accelerator)
    assert (flight.delegation.taken if flight.delegation else None) == taken
    assert ("delegation" in flight.to_json()) == (taken is not None)


def test_a_model_that_xnnpack_leaves_alone_is_told() -> None:
    ends = [tensor("x", [1, 4], "BOOL"), tensor("y", [1, 4], "BOOL")]
    model = write(tree(graph(ends, [operator("LOGICAL_NOT", [0], [1])], [0], [1])))
    flight = outlive.run(model)
    assert [finding.code for finding in flight.findings] == ["S703"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="a delegate for this test is made with a C compiler")
def test_a_delegate_that_takes_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "idle.c").write_text(IDLE)
    library = tmp_path / "libidle.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "idle.c"], check=True)
    model = str(demo_models.path("healthy"))
    flight = outlive.run(model, experimental_delegates=[load_delegate(library)])
    assert flight.delegation is not None
    assert (flight.delegation.asked, flight.delegation.taken) == ((str(library),), 0)
    (finding,) = flight.findings
    assert (finding.code, finding.cause) == ("S702", "delegate-refused")
