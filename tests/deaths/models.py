"""Models that die on purpose, each in its own way, written with our own writer."""

from __future__ import annotations

import numpy as np

from outlive.surgery import write
from tests.model.small import Tree, tensor, tree

LEAST = np.iinfo(np.int64).min


def endless() -> bytes:
    """A WHILE whose condition always holds: its invoke never comes back."""
    condition = _subgraph([tensor("a", "INT32", (1,)), tensor("is_same", "BOOL", (1,))], _op(1, [0, 0], [1]))
    body = _subgraph([tensor("b", "INT32", (1,)), tensor("twice", "INT32", (1,))], _op(2, [0, 0], [1], "Add"))
    loop = _op(0, [0], [1], "While", cond_subgraph_index=1, body_subgraph_index=2)
    main = _subgraph([tensor("start", "INT32", (1,)), tensor("end", "INT32", (1,))], loop)
    codes = [{"builtin_code": name} for name in ("WHILE", "EQUAL", "ADD")]
    return write({**tree(codes=codes), "subgraphs": [main, condition, body]})


def dividing() -> bytes:
    """FLOOR_MOD of two numbers: the least one by -1 has no result that fits, and the processor says so."""
    tensors = [tensor("a", "INT64", (1,)), tensor("b", "INT64", (1,)), tensor("rest", "INT64", (1,))]
    return _two_in(tensors, "FLOOR_MOD")


def looking_up() -> bytes:
    """GATHER from a table of ten rows, by indices that are the input."""
    table = tensor("table", "FLOAT32", (10, 2), buffer=1)
    tensors = [tensor("ids", "INT32", (1, 4)), table, tensor("rows", "FLOAT32", (1, 4, 2))]
    model = tree(tensors, operators=[_op(0, [1, 0], [2], "Gather")], codes=[{"builtin_code": "GATHER"}])
    model["buffers"] = [{}, {"data": bytes(10 * 2 * 4)}]
    return write(model)


def filling(kind: str = "FILL") -> bytes:
    """A tensor as large as the input says: FILL checks the sizes, RANDOM_UNIFORM does not."""
    tensors = [tensor("sizes", "INT32", (2,)), tensor("filled", "FLOAT32", (2, 2))]
    operands = [0]
    if kind == "FILL":
        tensors.insert(1, tensor("value", "FLOAT32", (), buffer=1))
        operands = [0, 1]
    options = "Fill" if kind == "FILL" else "Random"
    made = _op(0, operands, [len(tensors) - 1], options)
    model = tree(tensors, operators=[made], codes=[{"builtin_code": kind}])
    model["buffers"] = [{}, {"data": bytes(4)}]
    return write(model)


def aborting() -> bytes:
    """SUB of 16-bit numbers without a scale: the runtime checks that late, and aborts."""
    tensors = [tensor(name, "INT16", (2,)) for name in ("a", "b", "difference")]
    return _two_in(tensors, "SUB", "Sub")


def _two_in(tensors: list[Tree], kind: str, options: str = "") -> bytes:
    model = tree(tensors, operators=[_op(0, [0, 1], [2], options)], codes=[{"builtin_code": kind}])
    model["subgraphs"][0]["inputs"] = [0, 1]
    return write(model)


def _op(code: int, inputs: list[int], outputs: list[int], options: str = "", **fields: int) -> Tree:
    chosen = {"builtin_options_type": f"{options}Options", "builtin_options": fields} if options else {}
    return {"opcode_index": code, "inputs": inputs, "outputs": outputs, **chosen}


def _subgraph(tensors: list[Tree], *operators: Tree) -> Tree:
    return {"tensors": tensors, "inputs": [0], "outputs": [len(tensors) - 1], "operators": list(operators)}
