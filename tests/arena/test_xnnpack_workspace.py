"""XNNPACK's planner: no two live values share a byte, and operators that can work in place do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outlive.arena.xnnpack.allocations import plan_workspace
from outlive.kernels.xnnpack.graph import Graph, Node

ALIGNMENT = 64
SHAPES = ((64,), (1024,), (1, 8, 8, 16), (3,), (4096,))


def chain(*kinds: str) -> Graph:
    """Nodes one after another on 4,096 bytes each, from an input to an output outside."""
    graph = Graph()
    source = graph.add("fp32", (1024,), "external").id
    for position, kind in enumerate(kinds):
        last = position == len(kinds) - 1
        made = graph.add("fp32", (1024,), "external" if last else "workspace")
        made.is_output = last
        graph.nodes.append(Node(kind, [source], [made.id], position))
        source = made.id
    return graph


def test_a_chain_needs_two_buffers_and_in_place_one() -> None:
    apart = plan_workspace(chain(*["static_transpose"] * 5), [0] * 5, ALIGNMENT)
    assert apart.size_bytes == 2 * 4096 + 32
    in_place = plan_workspace(chain(*["unary_elementwise"] * 5), [0] * 5, ALIGNMENT)
    assert in_place.size_bytes == 4096 + 32


def test_one_node_needs_none_and_its_scratch_counts() -> None:
    assert plan_workspace(chain("softmax"), [0], ALIGNMENT).size_bytes == 0
    assert plan_workspace(chain("softmax"), [1000], ALIGNMENT).size_bytes == 1024 + 32


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Graph, list[int]]:
    """Any graph: each node reads some values made before."""
    graph = Graph()
    graph.add("fp32", (256,), "external")
    count = draw(st.integers(1, 25))
    for position in range(count):
        known = len(graph.values)
        inputs = draw(st.lists(st.integers(0, known - 1), min_size=1, max_size=3))
        kind = draw(st.sampled_from(("unary_elementwise", "binary_elementwise", "softmax", "concatenate")))
        made = graph.add("fp32", draw(st.sampled_from(SHAPES)))
        graph.nodes.append(Node(kind, inputs, [made.id], position))
    return graph, draw(st.lists(st.integers(0, 5000), min_size=count, max_size=count))


@given(graphs())
def test_no_two_live_stays_share_a_byte(drawn: tuple[Graph, list[int]]) -> None:
    graph, scratch = drawn
    workspace = plan_workspace(graph, scratch, ALIGNMENT)
    for index, stay in enumerate(workspace.blocks):
        assert stay.offset_bytes % ALIGNMENT == 0
        assert stay.offset_bytes + stay.size_bytes <= workspace.size_bytes
        for other in workspace.blocks[:index]:
            together = stay.first_node <= other.last_node and other.first_node <= stay.last_node
            apart = (
                stay.offset_bytes + stay.size_bytes <= other.offset_bytes
                or other.offset_bytes + other.size_bytes <= stay.offset_bytes
            )
            assert apart or not together
    live = workspace.live_bytes(len(graph.nodes))
    assert max(live, default=0) <= workspace.size_bytes
