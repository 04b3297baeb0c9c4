"""What a rule costs grows with the file, however the file is made."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

import outlive
from outlive.surgery import write
from tests.rules.small import graph, tensor, tree

SHA256 = hashlib.sha256


class Counting:
    """sha256 that counts the bytes it is given."""

    def __init__(self) -> None:
        self.given = 0

    def __call__(self, data: memoryview) -> Any:
        self.given += data.nbytes
        return SHA256(data)


def test_buffers_that_overlap_do_not_cost_more_than_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    made = tree(graph([tensor("x", [1])], [], [0], [0]))
    made["buffers"] += [{"offset": 100_000 + at, "size": 100_000} for at in range(200)]
    data = write(made)
    counting = Counting()
    monkeypatch.setattr(hashlib, "sha256", counting)
    codes = [finding.code for finding in outlive.check(data + bytes(201_000 - len(data)))]
    assert "M101" not in codes, "bytes that are there once are no copies"
    assert counting.given <= 2 * 201_000
