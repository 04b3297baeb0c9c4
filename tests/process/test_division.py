"""Divisions read from the bytes of an instruction and the registers."""

from __future__ import annotations

import pytest

from outlive.platforms.posix.child.tracing.ptrace import DivisionOperands, decode_division

_RAX, _RDX, _RCX, _RSP, _R9 = 0, 1, 2, 7, 9
_PC = 1000 - 16 - 6
_ONES = 2**64 - 1


@pytest.mark.parametrize(
    ("code", "registers", "expected"),
    [
        # idiv %ecx
        ("f7f9", {_RAX: 1 << 31, _RDX: _ONES, _RCX: 0xFFFFFFFF}, DivisionOperands(-(2**31), -1, 32)),
        # idiv %rcx
        ("48f7f9", {_RAX: 1 << 63, _RDX: _ONES, _RCX: _ONES}, DivisionOperands(-(2**63), -1, 64)),
        # idiv %r9
        ("49f7f9", {_RAX: 7, _RDX: 0, _R9: 0}, DivisionOperands(7, 0, 64)),
        # div %ecx: not signed
        ("f7f1", {_RAX: 0xFFFFFFFF, _RDX: 0, _RCX: 0}, DivisionOperands(0xFFFFFFFF, 0, 32)),
        # idiv %cx
        ("66f7f9", {_RAX: 0x18000, _RDX: 0xFFFF, _RCX: 0x1FFFF}, DivisionOperands(-(2**15), -1, 16)),
        # idivl 8(%rsp), (%rcx), 4(%rax,%rcx,4), 16(%rip), (%r9): the divisor lies in memory
        ("f77c2408", {_RAX: 9, _RSP: 992}, DivisionOperands(9, -1, 32)),
        ("f739", {_RAX: 9, _RCX: 1000}, DivisionOperands(9, -1, 32)),
        ("f77c8804", {_RAX: 996 - 40, _RCX: 10}, DivisionOperands(956, -1, 32)),
        ("f73d10000000", {_RAX: 9}, DivisionOperands(9, -1, 32)),
        ("41f739", {_RAX: 9, _R9: 1000}, DivisionOperands(9, -1, 32)),
        ("f739", {_RAX: 9, _RCX: 7}, None),
        # mul %ecx is no division
        ("f7e1", {}, None),
        ("", {}, None),
        ("48", {}, None),
    ],
)
def test_the_numbers_of_a_division(
    code: str, registers: dict[int, int], expected: DivisionOperands | None
) -> None:
    def read(address: int, size: int) -> bytes:
        return b"\xff" * size if address == 1000 else b""

    assert decode_division(bytes.fromhex(code), registers, _PC, read) == expected
